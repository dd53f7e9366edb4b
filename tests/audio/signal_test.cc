// Resampling, trimming, loudness and augmentation against what their definitions say.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "stoker/audio/augment/augment.h"
#include "stoker/audio/file/md5.h"
#include "stoker/audio/loudness.h"
#include "stoker/audio/resample.h"
#include "stoker/audio/trim.h"
#include "stoker/base/bytes.h"

namespace stoker::audio {
namespace {

std::vector<float> sine(double hz, double amplitude, double seconds, double rate_hz) {
  std::vector<float> out(static_cast<std::size_t>(seconds * rate_hz));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] =
        static_cast<float>(amplitude * std::sin(2 * M_PI * hz * static_cast<double>(i) / rate_hz));
  return out;
}

struct RatePair {
  std::uint32_t from_hz, to_hz;
};

TEST(ResamplerTest, ASineStaysASineAtTheNewRate) {
  for (const RatePair& rates :
       {RatePair{44100, 22050}, {48000, 22050}, {24000, 22050}, {16000, 22050}}) {
    const std::vector<float> in = sine(440, 0.5, 1.0, rates.from_hz);
    const std::vector<float> wanted = sine(440, 0.5, 1.0, rates.to_hz);
    Resampler resampler(rates.from_hz, rates.to_hz);
    std::vector<float> out(resampler.num_out(in.size()));
    resampler.run(in, out);
    ASSERT_EQ(out.size(), wanted.size());
    for (std::size_t i = 2000; i + 2000 < out.size(); ++i)
      ASSERT_NEAR(out[i], wanted[i], 1e-4) << rates.from_hz << " at " << i;
  }
}

TEST(ResamplerTest, NothingIsCarriedFromTheUtteranceBefore) {
  const std::vector<float> in = sine(300, 0.5, 0.3, 16000);
  Resampler fresh(16000, 22050);
  Resampler used(16000, 22050);
  std::vector<float> first(fresh.num_out(in.size())), second(first);
  std::vector<float> other(used.num_out(7777));
  used.run(sine(1000, 0.9, 7777.0 / 16000, 16000), other);
  fresh.run(in, first);
  used.run(in, second);
  EXPECT_EQ(first, second);
}

// The values are librosa.effects.trim's for the same signal (librosa 0.11, frame 1024, hop 256).
TEST(TrimTest, SilenceAtBothEndsGoes) {
  std::vector<float> samples(22050, 0.0F);
  const std::vector<float> tone = sine(220, 0.5, 0.4, 22050);
  std::copy(tone.begin(), tone.end(), samples.begin() + 6000);
  const SampleRange range = find_speech(samples, {.top_db = 40});
  EXPECT_EQ(range.first, 5632U);
  EXPECT_EQ(range.first + range.count, 15360U);
}

TEST(TrimTest, PureSilenceLeavesNothing) {
  EXPECT_EQ(find_speech(std::vector<float>(5000, 0.0F), {}).count, 0U);
}

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

TEST(AugmentTest, NoiseIsMixedAtTheDrawnRatio) {
  const std::vector<float> speech = sine(200, 0.3, 1.0, 22050);
  const std::vector<float> noise = sine(3000, 0.7, 0.37, 22050);
  std::vector<float> mixed = speech;
  ASSERT_TRUE(mix_at_snr(mixed, noise, 1234, 15.0));
  std::vector<float> added(speech.size());
  for (std::size_t i = 0; i < added.size(); ++i) added[i] = mixed[i] - speech[i];
  EXPECT_NEAR(20 * std::log10(rms_of(speech) / rms_of(added)), 15.0, 0.1);
}

TEST(AugmentTest, SilenceIsNotMixed) {
  std::vector<float> silence(100, 0.0F);
  EXPECT_FALSE(mix_at_snr(silence, std::vector<float>(10, 0.5F), 0, 10));
}

TEST(AugmentTest, EqualKeysDrawEqualAndOtherEpochsDiffer) {
  const AugmentKey key{42, 3, 99};
  EXPECT_EQ(draw_gain_db(key, {-6, 6}), draw_gain_db(key, {-6, 6}));
  EXPECT_NE(draw_gain_db(key, {-6, 6}), draw_gain_db({42, 4, 99}, {-6, 6}));
  int mixed = 0;
  for (std::uint64_t i = 0; i < 2000; ++i)
    mixed += draw_noise({42, 0, i}, {.probability = 0.3}).is_mixed ? 1 : 0;
  EXPECT_NEAR(mixed, 600, 80);
}

TEST(Md5Test, PublishedVectors) {
  const auto hex = [](std::string_view text) {
    Md5 md5;
    md5.add(view_bytes(text));
    std::string out;
    for (const std::byte byte : md5.finish()) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      out += kDigits[std::to_integer<std::size_t>(byte >> 4)];
      out += kDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
    }
    return out;
  };
  EXPECT_EQ(hex(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(hex("abc"), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(hex("12345678901234567890123456789012345678901234567890123456789012345678901234567890"),
            "57edf4a22be3c955ac49da2e2107b67a");
}

}  // namespace
}  // namespace stoker::audio
