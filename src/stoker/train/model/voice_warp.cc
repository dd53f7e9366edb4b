#include "stoker/train/model/voice_warp.h"

#include <algorithm>
#include <cmath>

#include "stoker/audio/mel/mel_filterbank.h"
#include "stoker/base/philox.h"

namespace stoker::train {
namespace {

constexpr std::uint32_t kMiddle = VoiceWarps::kNumWarps / 2;
// Harmonics are told apart below, resonances above.
constexpr double kPitchHz = 800, kResonanceHz = 2000;
constexpr double kShiftShare = 0.5;

// -1 to 1, evenly.
double share_of(std::uint32_t index, std::uint32_t count) {
  const double middle = (count - 1) / 2.0;
  return (index - middle) / middle;
}

// Logarithms of what frequencies are multiplied by.
struct Stretch {
  double pitch = 0;
  double resonance = 0;

  Stretch(std::uint32_t warp, double most)
      : pitch(most * share_of(warp % VoiceWarps::kNumStretches, VoiceWarps::kNumStretches)) {
    const double shift = share_of(warp / VoiceWarps::kNumStretches, VoiceWarps::kNumShifts);
    resonance = std::clamp(pitch + most * kShiftShare * shift, -most, most);
  }
  double factor(double hz) const {
    const double way = std::log(std::max(hz, 1.0) / kPitchHz) / std::log(kResonanceHz / kPitchHz);
    return std::exp(std::lerp(pitch, resonance, std::clamp(way, 0.0, 1.0)));
  }
};

}  // namespace

VoiceWarps::VoiceWarps(const config::MelRecipe& recipe, double most, std::uint64_t seed)
    : num_mels_(static_cast<std::uint32_t>(recipe.num_mels)), seed_(seed) {
  const double low = audio::hz_to_mel(recipe.scale, recipe.fmin_hz);
  const double high = audio::hz_to_mel(recipe.scale, recipe.fmax_hz);
  const double band = (high - low) / (num_mels_ + 1);  // the edges are no centres
  for (std::uint32_t warp = 0; warp < kNumWarps; ++warp) {
    const Stretch stretch(warp, std::log1p(most));
    for (std::uint32_t mel = 0; mel < num_mels_; ++mel) {
      const double hz = audio::mel_to_hz(recipe.scale, low + band * (mel + 1));
      const double place =
          (audio::hz_to_mel(recipe.scale, hz / stretch.factor(hz)) - low) / band - 1;
      const double last = num_mels_ - 1;
      places_.push_back(warp == kMiddle ? static_cast<float>(mel)
                                        : static_cast<float>(std::clamp(place, 0.0, last)));
    }
  }
}

std::uint32_t VoiceWarps::draw(std::uint64_t batch_number, std::uint64_t row) const {
  KeyedDraws draws(
      {.seed = seed_, .stage = "train-voice-warp", .epoch = batch_number, .item = row});
  return static_cast<std::uint32_t>(draws.next_below(kNumWarps));
}

}  // namespace stoker::train
