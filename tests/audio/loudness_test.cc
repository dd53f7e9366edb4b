// The meter against what BS.1770 and EBU Tech 3341 print.
#include "stoker/audio/loudness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/audio/sine.h"

namespace stoker::audio {
namespace {

// BS.1770: a full-scale sine of 997 Hz in one channel reads -3.01 LKFS, at every sample rate.
TEST(LoudnessTest, TheStandardsSineReadsMinusThree) {
  for (const std::uint32_t rate_hz : {16000U, 22050U, 44100U, 48000U}) {
    LoudnessMeter meter(rate_hz);
    EXPECT_NEAR(meter.integrated_lufs(sine(997, 1.0, 5.0, rate_hz)), -3.01, 0.05) << rate_hz;
    EXPECT_NEAR(meter.integrated_lufs(sine(997, 0.1, 5.0, rate_hz)), -23.01, 0.05) << rate_hz;
  }
}

// The coefficients the standard prints for 48 kHz.
TEST(LoudnessTest, CoefficientsAreTheStandards) {
  const KWeighting w = k_weighting(48000);
  EXPECT_NEAR(w.shelf.b0, 1.53512485958697, 1e-6);
  EXPECT_NEAR(w.shelf.b1, -2.69169618940638, 1e-6);
  EXPECT_NEAR(w.shelf.b2, 1.19839281085285, 1e-6);
  EXPECT_NEAR(w.shelf.a1, -1.69065929318241, 1e-6);
  EXPECT_NEAR(w.shelf.a2, 0.73248077421585, 1e-6);
  EXPECT_NEAR(w.high_pass.a1, -1.99004745483398, 1e-6);
  EXPECT_NEAR(w.high_pass.a2, 0.99007225036621, 1e-6);
}

// EBU Tech 3341, test 3: the quiet parts fall under the relative gate and do not count.
TEST(LoudnessTest, QuietPartsAreGated) {
  std::vector<float> samples = sine(1000, std::pow(10.0, -33.0 / 20), 10, 48000);
  const std::vector<float> loud = sine(1000, std::pow(10.0, -20.0 / 20), 60, 48000);
  const std::vector<float> end = sine(1000, std::pow(10.0, -33.0 / 20), 10, 48000);
  samples.insert(samples.end(), loud.begin(), loud.end());
  samples.insert(samples.end(), end.begin(), end.end());
  LoudnessMeter meter(48000);
  const double alone = LoudnessMeter(48000).integrated_lufs(loud);
  EXPECT_NEAR(meter.integrated_lufs(samples), alone, 0.1);
}

TEST(LoudnessTest, SilenceHasNoLevelAndIsLeftAlone) {
  LoudnessMeter meter(22050);
  EXPECT_EQ(meter.integrated_lufs(std::vector<float>(22050, 0.0F)),
            -std::numeric_limits<double>::infinity());
  EXPECT_EQ(gain_to_lufs(-std::numeric_limits<double>::infinity(), -23, 0, kMinusOneDbfs), 1.0);
}

TEST(LoudnessTest, GainReachesTheTargetUnlessThePeakForbidsIt) {
  std::vector<float> samples = sine(997, 0.01, 3.0, 22050);
  LoudnessMeter meter(22050);
  apply_gain(samples,
             gain_to_lufs(meter.integrated_lufs(samples), -23, peak_of(samples), kMinusOneDbfs));
  EXPECT_NEAR(meter.integrated_lufs(samples), -23, 0.05);
  apply_gain(samples,
             gain_to_lufs(meter.integrated_lufs(samples), 0, peak_of(samples), kMinusOneDbfs));
  EXPECT_NEAR(peak_of(samples), kMinusOneDbfs, 1e-6);
}

}  // namespace
}  // namespace stoker::audio
