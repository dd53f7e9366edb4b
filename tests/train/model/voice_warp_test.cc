// Stretched frequencies against tones whose place is known.
#include "stoker/train/model/voice_warp.h"

#include <gtest/gtest.h>

#include <algorithm>
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

double hz_of(const config::MelRecipe& recipe, double band) {
  const double low = audio::hz_to_mel(recipe.scale, recipe.fmin_hz);
  const double high = audio::hz_to_mel(recipe.scale, recipe.fmax_hz);
  const double bands = static_cast<double>(recipe.num_mels + 1);
  return audio::mel_to_hz(recipe.scale, low + (high - low) * (band + 1) / bands);
}

// Where a tone is after the warp, as a multiple of its frequency: the band whose place is nearest
// to the tone's own.
double moved_by(const VoiceWarps& warps, const config::MelRecipe& recipe, std::uint32_t warp,
                double hz) {
  const auto places = warps.places_of(warp);
  const double own = band_of(recipe, hz);
  const auto above = static_cast<std::size_t>(
      std::lower_bound(places.begin(), places.end(), static_cast<float>(own)) - places.begin());
  const double share = (own - places[above - 1]) / (places[above] - places[above - 1]);
  return hz_of(recipe, static_cast<double>(above) - 1 + share) / hz;
}

TEST(VoiceWarpTest, AToneMovesByTheFactor) {
  for (const config::MelScale scale : {config::MelScale::kSlaney, config::MelScale::kHtk}) {
    config::MelRecipe recipe;
    recipe.scale = scale;
    const VoiceWarps warps(recipe, 0.2, 1);
    for (const double hz : {200.0, 900.0, 2500.0})
      EXPECT_NEAR(moved_by(warps, recipe, VoiceWarps::kNumWarps - 1, hz), 1.2, 0.01) << hz << " Hz";
  }
}

TEST(VoiceWarpTest, UpperResonancesMoveMoreOrLessThanThePitch) {
  const config::MelRecipe recipe;
  const VoiceWarps warps(recipe, 0.2, 1);
  constexpr std::uint32_t kFirst = VoiceWarps::kNumStretches / 2;  // the pitch stays
  constexpr std::uint32_t kLast = kFirst + VoiceWarps::kNumStretches * (VoiceWarps::kNumShifts - 1);
  for (const double hz : {150.0, 300.0, 500.0}) {
    EXPECT_NEAR(moved_by(warps, recipe, kFirst, hz), 1, 0.005) << hz << " Hz";
    EXPECT_NEAR(moved_by(warps, recipe, kLast, hz), 1, 0.005) << hz << " Hz";
  }
  for (const double hz : {2400.0, 4000.0}) {
    EXPECT_NEAR(moved_by(warps, recipe, kFirst, hz), 1 / std::sqrt(1.2), 0.01) << hz << " Hz";
    EXPECT_NEAR(moved_by(warps, recipe, kLast, hz), std::sqrt(1.2), 0.01) << hz << " Hz";
  }
}

TEST(VoiceWarpTest, NoTwoBandsChangePlaces) {
  const VoiceWarps warps(config::MelRecipe{}, 0.5, 1);
  for (std::uint32_t warp = 0; warp < VoiceWarps::kNumWarps; ++warp) {
    const auto places = warps.places_of(warp);
    EXPECT_TRUE(std::is_sorted(places.begin(), places.end())) << warp;
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
