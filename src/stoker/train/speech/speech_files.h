// Writes what was spoken: sound, frames and pictures, one file of each kind for a text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/json.h"
#include "stoker/train/loop/training_run.h"
#include "stoker/train/speech/speaker.h"

namespace stoker::train {

// Each list is empty or has a file for every text.
struct SpeechFiles {
  std::vector<std::string> out;       // WAV
  std::vector<std::string> save_mel;  // .npy, f32 [frames, mels]
  std::vector<std::string> pictures;  // .svg, else PNG
};

// Frames above the token of each, as SVG or PNG.
std::string speech_picture_svg(const Speech& speech);
std::vector<std::byte> speech_picture_png(const Speech& speech);

// Returns audio_s, compute_s, first_use_s, rtf, files and speeches[]{text, file, audio_s, frames}.
// Throws what the file system says.
Json write_speech(Io& io, const SpeechReport& report, const SpeechFiles& files);

// What a run calls to be heard while it learns: one file step-NNNNNNNN-K.wav in the folder for each
// text, spoken with the voice's own reference. Throws Failure.
std::vector<SpokenSample> speak_sample(Io& io, const SampleRequest& request);

}  // namespace stoker::train
