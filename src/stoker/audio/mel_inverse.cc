#include "stoker/audio/mel_inverse.h"

#include <algorithm>
#include <cmath>

#include "stoker/audio/coded_errors.h"

namespace stoker::audio {
namespace {

double undo_log(config::MelLog log, double value) {
  switch (log) {
    case config::MelLog::kLn:
      return std::exp(value);
    case config::MelLog::kLog10:
      return std::pow(10.0, value);
    case config::MelLog::kDb:
      return std::pow(10.0, value / 10.0);
    case config::MelLog::kNone:
      break;
  }
  return value;
}

}  // namespace

Result<void> check_invertible(const config::MelRecipe& recipe) {
  if (recipe.range == config::MelRange::kMinMax)
    return Error{
        .code = &kMelInvert,
        .promised = "frames that keep their level",
        .found = "preset " + recipe.preset + " scales each utterance to [0, 1] and forgets it"};
  return {};
}

void mel_energies(const config::MelRecipe& recipe, std::span<const float> frame,
                  std::span<float> out) noexcept {
  constexpr double kLeast = 1e-12;
  const double added = recipe.floor_mode == config::MelFloor::kAdd ? recipe.floor : 0.0;
  for (std::size_t band = 0; band < frame.size(); ++band) {
    double value = frame[band];
    if (!recipe.channel_divisors.empty()) value *= recipe.channel_divisors[band];
    value = undo_log(recipe.log, value / recipe.out_scale - recipe.out_offset) - added;
    out[band] = static_cast<float>(std::max(value, kLeast));
  }
}

}  // namespace stoker::audio
