// From log-mel frames to sound: one interface, so that a neural vocoder can take its place beside
// Griffin-Lim.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "stoker/base/result.h"
#include "stoker/config/mel_recipe.h"

namespace stoker::train {

// Immutable; one object serves every thread.
class Vocoder {
 public:
  virtual ~Vocoder() = default;
  // `log_mel` is [frames, mels] as the recipe makes it.
  virtual std::vector<float> to_samples(std::span<const float> log_mel) const = 0;
};

// E-MEL-INVERT for recipes that cannot be undone.
Result<std::unique_ptr<Vocoder>> make_griffin_lim_vocoder(const config::MelRecipe& recipe);

}  // namespace stoker::train
