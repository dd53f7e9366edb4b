// What a model has learned, as pictures: frames above predicted ones, and which token each frame
// belongs to.
#pragma once

#include <cstddef>
#include <vector>

#include "stoker/train/loop/learner.h"

namespace stoker::train {

// Both are PNG files, and empty where there is no frame.

// The frames of the utterance above those that the text alone predicts for them, on one colour
// scale.
std::vector<std::byte> mel_picture(const PictureRow& row);

// Tokens from bottom to top over frames: a rising line where text and sound fit.
std::vector<std::byte> alignment_picture(const PictureRow& row);

}  // namespace stoker::train
