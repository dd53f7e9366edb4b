// The steps after the logarithm that need a whole utterance, and what silence comes out as.
#pragma once

#include <span>

#include "stoker/audio/mel/log_mel.h"
#include "stoker/config/mel_recipe.h"

namespace stoker::audio {

// Range, offset, scale and divisors over `whole` ([frames, num_mels], changed in place), written to
// `out` in its dtype. A constant utterance comes out as 0 with min_max.
void finish_mel(const config::MelRecipe& recipe, std::span<float> whole, const MelView& out);

// The value of digital silence: what rows after an utterance's end are filled with.
float mel_padding_value(const config::MelRecipe& recipe);

}  // namespace stoker::audio
