#include "stoker/audio/augment/augment_batch.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stoker/audio/augment/augment_value.h"
#include "stoker/audio/loudness.h"
#include "tests/audio/ragged_speech.h"

namespace stoker::audio {
namespace {

constexpr AugmentRule kAlways{
    .seed = 5, .epoch = 2, .gain_db = {-6, 6}, .noise_probability = 1.0, .snr_db = {5, 20}};

class AugmentBatchTest : public BackEndTest {
 protected:
  template <class Out>
  std::vector<Out> run(const Speech& speech, const Speech& bank, const AugmentRule& rule) {
    return augmented<Out>(GetParam(), speech, bank, rule);
  }
};

template <class T>
std::uint64_t digest_of(const std::vector<T>& values) {
  return hash64({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}

// One utterance, slowly: adds `noise`, repeated as needed from `first`, at the ratio of powers.
void mix_at_snr(std::vector<float>& speech, const std::vector<float>& noise, std::size_t first,
                double snr_db) {
  double noise_power = 0;
  for (std::size_t i = 0; i < speech.size(); ++i)
    noise_power += std::pow(noise[(first + i) % noise.size()], 2.0);
  const double noise_rms = std::sqrt(noise_power / static_cast<double>(speech.size()));
  const double gain = rms_of(speech) / noise_rms * std::pow(10.0, -snr_db / 20.0);
  for (std::size_t i = 0; i < speech.size(); ++i)
    speech[i] += static_cast<float>(gain) * noise[(first + i) % noise.size()];
}

// Both back ends, every machine: these bytes.
TEST_P(AugmentBatchTest, TheBytesAreThese) {
  EXPECT_EQ(digest_of(run<std::int16_t>(ragged(), noises(), kAlways)), 12728094180848639223U);
  EXPECT_EQ(digest_of(run<float>(ragged(), noises(), kAlways)), 14766205025053460018U);
}

TEST_P(AugmentBatchTest, TheDrawsAreThoseOfTheSingleUtterance) {
  const Speech speech = ragged(), bank = noises();
  const std::vector<float> out = run<float>(speech, bank, kAlways);
  for (std::size_t u = 0; u < speech.ids.size(); ++u) {
    const auto draws = [&](std::string_view stage) {
      return KeyedDraws({kAlways.seed, stage, kAlways.epoch, speech.ids[u]});
    };
    const NoiseDraw draw = noise_from(draws("noise"), {1.0, kAlways.snr_db, bank.ids.size()});
    std::vector<float> wanted, noise;
    for (std::int32_t i = 0; i < speech.lengths[u]; ++i)
      wanted.push_back(static_cast<float>(
          speech.samples[static_cast<std::size_t>(speech.begins[u] + i)] / 32768.0));
    for (std::int32_t i = 0; i < bank.lengths[draw.noise_index]; ++i)
      noise.push_back(static_cast<float>(
          bank.samples[static_cast<std::size_t>(bank.begins[draw.noise_index] + i)] / 32768.0));
    apply_gain(wanted, std::pow(10.0, gain_db_from(draws("gain"), kAlways.gain_db) / 20.0));
    const auto first = static_cast<std::size_t>(draw.start * static_cast<double>(noise.size()));
    mix_at_snr(wanted, noise, first, draw.snr_db);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      ASSERT_NEAR(out[static_cast<std::size_t>(speech.begins[u]) + i], wanted[i], 2e-6)
          << "utterance " << u << " sample " << i;
  }
}

TEST_P(AugmentBatchTest, AnotherEpochSoundsDifferent) {
  AugmentRule next = kAlways;
  ++next.epoch;
  EXPECT_NE(run<std::int16_t>(ragged(), noises(), kAlways),
            run<std::int16_t>(ragged(), noises(), next));
}

TEST(NoiseDrawTest, AsManyUtterancesAreMixedAsTheProbabilitySays) {
  int mixed = 0;
  for (std::uint64_t i = 0; i < 2000; ++i)
    mixed += noise_from(KeyedDraws({42, "noise", 0, i}), {.probability = 0.3}).is_mixed ? 1 : 0;
  EXPECT_NEAR(mixed, 600, 80);
}

TEST_P(AugmentBatchTest, NothingBetweenTheUtterancesIsTouched) {
  const Speech speech = ragged();
  const std::vector<std::int16_t> out = run<std::int16_t>(speech, noises(), kAlways);
  for (std::size_t u = 0; u + 1 < speech.ids.size(); ++u) {
    for (std::int64_t i = speech.begins[u] + speech.lengths[u]; i < speech.begins[u + 1]; ++i)
      ASSERT_EQ(out[static_cast<std::size_t>(i)], 77);
  }
}

TEST_P(AugmentBatchTest, SilenceAndSilentNoiseGetTheGainAlone) {
  Speech speech, silent_bank;
  speech.add(3000, 0.0);
  speech.add(3000, 0.5);
  silent_bank.add(500, 0.0);
  const AugmentRule rule{.gain_db = {0, 0}, .noise_probability = 1.0};
  const auto beside_noise = run<std::int16_t>(speech, noises(), rule);
  for (std::size_t i = 0; i < 3000; ++i) ASSERT_EQ(beside_noise[i], 0);
  const auto beside_silence = run<std::int16_t>(speech, silent_bank, rule);
  const auto at = static_cast<std::ptrdiff_t>(speech.begins[1]);
  EXPECT_TRUE(std::equal(beside_silence.begin() + at, beside_silence.begin() + at + 3000,
                         speech.samples.begin() + at));
}

TEST_P(AugmentBatchTest, WithoutNoiseOrGainPcmStaysAsItIs) {
  const Speech speech = ragged();
  const auto out = run<std::int16_t>(speech, Speech{}, AugmentRule{.noise_probability = 1.0});
  for (std::size_t u = 0; u < speech.ids.size(); ++u) {
    const auto at = static_cast<std::ptrdiff_t>(speech.begins[u]);
    EXPECT_TRUE(std::equal(out.begin() + at, out.begin() + at + speech.lengths[u],
                           speech.samples.begin() + at));
  }
}

TEST_P(AugmentBatchTest, AnUtteranceSoundsTheSameWhateverItsNeighbours) {
  const Speech all = ragged();
  Speech alone;
  alone.samples.assign(all.samples.begin() + static_cast<std::ptrdiff_t>(all.begins[10]),
                       all.samples.end());
  alone.begins = {0};
  alone.lengths = {all.lengths[10]};
  alone.ids = {all.ids[10]};
  const auto together = run<std::int16_t>(all, noises(), kAlways);
  const auto single = run<std::int16_t>(alone, noises(), kAlways);
  EXPECT_TRUE(std::equal(single.begin(), single.end(),
                         together.begin() + static_cast<std::ptrdiff_t>(all.begins[10])));
}

INSTANTIATE_TEST_SUITE_P(BackEnds, AugmentBatchTest, testing::Values(BackEnd::kCpu, BackEnd::kCuda),
                         name_of);

}  // namespace
}  // namespace stoker::audio
