#include "stoker/audio/griffin_lim/mel_inverse.h"

#include "stoker/audio/file/coded_errors.h"

namespace stoker::audio {

Result<void> check_invertible(const config::MelRecipe& recipe) {
  if (recipe.range == config::MelRange::kMinMax)
    return Error{.code = &kMelInvert,
                 .promised = "frames that keep their level",
                 .found = "preset " + recipe.preset + ", which scales each utterance to [0, 1]"};
  return {};
}

MelUndo mel_undo(const config::MelRecipe& recipe) {
  return {recipe.log, recipe.out_scale, recipe.out_offset,
          recipe.floor_mode == config::MelFloor::kAdd ? recipe.floor : 0.0};
}

void mel_energies(const config::MelRecipe& recipe, std::span<const float> frame,
                  std::span<float> out) noexcept {
  const MelUndo undo = mel_undo(recipe);
  for (std::size_t band = 0; band < frame.size(); ++band) {
    double value = frame[band];
    if (!recipe.channel_divisors.empty()) value *= recipe.channel_divisors[band];
    out[band] = mel_energy(undo, value);
  }
}

}  // namespace stoker::audio
