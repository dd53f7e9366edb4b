#include "stoker/config/settings.h"

#include <fmt/format.h>

namespace stoker::config {

MelRecipe recipe_of(const FeatureSettings& features) {
  MelRecipe recipe = mel_preset(features.preset);
  recipe.sample_rate_hz = features.sample_rate_hz.value_or(recipe.sample_rate_hz);
  recipe.n_fft = features.n_fft.value_or(recipe.n_fft);
  recipe.hop_samples = features.hop_samples.value_or(recipe.hop_samples);
  recipe.win_samples = features.win_samples.value_or(recipe.win_samples);
  recipe.num_mels = features.num_mels.value_or(recipe.num_mels);
  recipe.fmin_hz = features.fmin_hz.value_or(recipe.fmin_hz);
  recipe.fmax_hz = features.fmax_hz.value_or(recipe.fmax_hz);
  for (const auto& [key, value] : features.mel) set_mel_value(recipe, key, value);
  return recipe;
}

}  // namespace stoker::config
