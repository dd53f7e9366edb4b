// The window shapes that mel recipes name.
#pragma once

#include <vector>

#include "stoker/config/mel_recipe.h"

namespace stoker::audio {

// win_samples values in f64; periodic unless the shape says otherwise.
std::vector<double> mel_window(const config::MelRecipe& recipe);

}  // namespace stoker::audio
