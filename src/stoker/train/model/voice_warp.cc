#include "stoker/train/model/voice_warp.h"

#include <algorithm>
#include <cmath>

#include "stoker/audio/mel/mel_filterbank.h"
#include "stoker/base/philox.h"

namespace stoker::train {
namespace {

constexpr std::uint32_t kMiddle = VoiceWarps::kNumWarps / 2;

}  // namespace

VoiceWarps::VoiceWarps(const config::MelRecipe& recipe, double most, std::uint64_t seed)
    : num_mels_(static_cast<std::uint32_t>(recipe.num_mels)), seed_(seed) {
  const double low = audio::hz_to_mel(recipe.scale, recipe.fmin_hz);
  const double high = audio::hz_to_mel(recipe.scale, recipe.fmax_hz);
  const double band = (high - low) / (num_mels_ + 1);  // the edges are no centres
  for (std::uint32_t warp = 0; warp < kNumWarps; ++warp) {
    const double share = (static_cast<double>(warp) - kMiddle) / kMiddle;
    const double factor = std::exp(share * std::log1p(most));
    for (std::uint32_t mel = 0; mel < num_mels_; ++mel) {
      const double hz = audio::mel_to_hz(recipe.scale, low + band * (mel + 1));
      const double place = (audio::hz_to_mel(recipe.scale, hz / factor) - low) / band - 1;
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
