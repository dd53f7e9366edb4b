// Stretched frequencies against tones whose place is known.
#include "stoker/train/model/voice_warp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "stoker/audio/mel/mel_filterbank.h"

namespace stoker::train {
namespace {

constexpr std::uint32_t kMiddle = VoiceWarps::kNumWarps / 2;

double band_of(const config::MelRecipe& recipe, double hz) {
  const double low = audio::hz_to_mel(recipe.scale, recipe.fmin_hz);
  const double high = audio::hz_to_mel(recipe.scale, recipe.fmax_hz);
  return (audio::hz_to_mel(recipe.scale, hz) - low) / (high - low) *
             static_cast<double>(recipe.num_mels + 1) -
         1;
}

TEST(VoiceWarpTest, AToneMovesByTheFactor) {
  for (const config::MelScale scale : {config::MelScale::kSlaney, config::MelScale::kHtk}) {
    config::MelRecipe recipe;
    recipe.scale = scale;
    const VoiceWarps warps(recipe, 0.2, 1);
    for (const double hz : {200.0, 900.0, 2500.0}) {
      const auto places = warps.places_of(VoiceWarps::kNumWarps - 1);
      const double wanted = band_of(recipe, hz * 1.2);
      const auto below = static_cast<std::size_t>(wanted);
      const double share = wanted - std::floor(wanted);
      const double found = (1 - share) * places[below] + share * places[below + 1];
      EXPECT_NEAR(found, band_of(recipe, hz), 0.02) << hz << " Hz";
    }
  }
}

TEST(VoiceWarpTest, TheMiddleStretchesNothingAndNoPlaceIsOutside) {
  const config::MelRecipe recipe;
  const VoiceWarps warps(recipe, 0.5, 1);
  for (std::uint32_t mel = 0; mel < warps.num_mels(); ++mel)
    EXPECT_EQ(warps.places_of(kMiddle)[mel], static_cast<float>(mel));
  for (const float place : warps.places()) {
    EXPECT_GE(place, 0);
    EXPECT_LE(place, static_cast<float>(warps.num_mels() - 1));
  }
  EXPECT_TRUE(VoiceWarps().is_empty());
}

TEST(VoiceWarpTest, DrawsDependOnBatchAndRowAloneAndReachAll) {
  const VoiceWarps warps(config::MelRecipe{}, 0.1, 7);
  std::set<std::uint32_t> seen;
  for (std::uint64_t batch = 0; batch < 100; ++batch)
    for (std::uint64_t row = 0; row < 20; ++row) {
      const std::uint32_t warp = warps.draw(batch, row);
      EXPECT_LT(warp, VoiceWarps::kNumWarps);
      EXPECT_EQ(warp, VoiceWarps(config::MelRecipe{}, 0.1, 7).draw(batch, row));
      seen.insert(warp);
    }
  EXPECT_EQ(seen.size(), VoiceWarps::kNumWarps);
}

}  // namespace
}  // namespace stoker::train
