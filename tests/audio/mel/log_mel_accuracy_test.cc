// Every preset, level, transform length and dtype against the definition in f64.
#include <gtest/gtest.h>

#include <cstring>

#include "stoker/audio/float16.h"
#include "stoker/audio/mel/log_mel.h"
#include "stoker/base/error.h"
#include "stoker/bench/mel_reference.h"
#include "tests/audio/mel/mel_signals.h"
#include "tests/audio/real_speech.h"

namespace stoker::audio {
namespace {

config::MelRecipe small_preset(std::string_view name) {
  config::MelRecipe recipe = config::mel_preset(name);
  if (recipe.fit_samples > 0) recipe.fit_samples = 12000;  // 30 s of direct sums take too long
  return recipe;
}

void expect_accurate(const config::MelRecipe& recipe, const std::vector<std::int16_t>& samples) {
  const auto reference = bench::mel_reference(recipe, bench::unit_samples(samples));
  for (const SimdLevel level : runnable_levels()) {
    const LogMel mel(recipe, level);
    ASSERT_EQ(mel.num_frames(samples.size()), reference.num_frames);
    const auto difference = bench::compare_mel(recipe, reference, run_mel(mel, samples));
    EXPECT_TRUE(bench::within_tolerance(recipe, difference))
        << recipe.preset << " n_fft " << recipe.n_fft << " hop " << recipe.hop_samples << " at "
        << simd_level_name(level) << ": loud " << difference.largest_loud << " middle "
        << difference.largest_middle << " quiet " << difference.largest_quiet << " mean "
        << difference.mean << " relative " << difference.largest_relative;
  }
}

class LogMelPresetTest : public testing::TestWithParam<std::string_view> {};

TEST_P(LogMelPresetTest, AgreesWithTheDefinitionAtEveryLevel) {
  expect_accurate(small_preset(GetParam()), speech_like(7000));
}

TEST_P(LogMelPresetTest, FloatSamplesGiveTheBytesOfInt16) {
  const std::vector<std::int16_t> samples = speech_like(9000);
  std::vector<float> unit(samples.size());
  std::ranges::transform(samples, unit.begin(),
                         [](std::int16_t x) { return static_cast<float>(x) / 32768.0F; });
  for (const SimdLevel level : runnable_levels()) {
    const LogMel mel(small_preset(GetParam()), level);
    EXPECT_EQ(run_mel(mel, samples), run_mel(mel, unit)) << simd_level_name(level);
  }
}

TEST_P(LogMelPresetTest, SmallDtypesAreTheRoundedFloats) {
  const std::vector<std::int16_t> samples = speech_like(7000);
  for (const SimdLevel level : runnable_levels()) {
    const LogMel mel(small_preset(GetParam()), level);
    const std::vector<float> f32 = run_mel(mel, samples);
    auto workspace = mel.make_workspace(samples.size());
    std::vector<std::uint16_t> narrow(f32.size());
    for (const auto dtype : {config::MelDtype::kF16, config::MelDtype::kBf16}) {
      mel.run(samples,
              {.data = narrow.data(),
               .dtype = dtype,
               .row_stride = mel.num_mels(),
               .rows = f32.size() / mel.num_mels()},
              workspace);
      for (std::size_t i = 0; i < f32.size(); ++i) {
        const bool half = dtype == config::MelDtype::kF16;
        ASSERT_EQ(narrow[i], half ? f16_bits(f32[i]) : bf16_bits(f32[i]))
            << f32[i] << " at " << simd_level_name(level);
      }
    }
  }
}

TEST_P(LogMelPresetTest, RealSpeechIsWithinToleranceAtEveryLevel) {
  const auto pieces = real_speech();
  if (pieces.empty()) GTEST_SKIP() << kNoRealSpeech;
  for (const auto& samples : pieces) expect_accurate(small_preset(GetParam()), samples);
}

INSTANTIATE_TEST_SUITE_P(Presets, LogMelPresetTest,
                         testing::ValuesIn(config::mel_preset_names().begin(),
                                           config::mel_preset_names().end()),
                         [](const auto& preset) { return std::string(preset.param); });

class LogMelLengthTest : public testing::TestWithParam<int> {};

TEST_P(LogMelLengthTest, AnyTransformLengthIsAccurate) {
  config::MelRecipe recipe;
  recipe.n_fft = GetParam();
  recipe.win_samples = recipe.n_fft;
  recipe.hop_samples = recipe.n_fft / 4;
  recipe.num_mels = 20;
  const auto count = static_cast<std::size_t>(recipe.n_fft) * 5 / (GetParam() > 2048 ? 8 : 1);
  expect_accurate(recipe, speech_like(count));
}

INSTANTIATE_TEST_SUITE_P(Lengths, LogMelLengthTest,
                         testing::Values(64, 65, 100, 127, 192, 255, 441, 512, 600, 768, 1000, 1001,
                                         1021, 1024, 1536, 2048, 2205, 4096, 4099, 6000, 8191,
                                         8192),
                         testing::PrintToStringParamName());

struct HandSet {
  const char* name;
  std::vector<std::pair<const char*, const char*>> values;
};

TEST(LogMelRecipeTest, ValuesSetByHandAreObeyed) {
  for (const HandSet& hand : {
           HandSet{"hop 200", {{"hop_samples", "200"}}},
           HandSet{"short window", {{"win_samples", "800"}}},
           HandSet{"hamming", {{"window", "hamming"}}},
           HandSet{"symmetric", {{"window", "hann_symmetric"}, {"framing", "center"}}},
           HandSet{"7 bands", {{"num_mels", "7"}, {"fmin_hz", "300"}, {"fmax_hz", "3400"}}},
           HandSet{"decibel",
                   {{"log", "db"},
                    {"power", "2"},
                    {"floor", "1e-10"},
                    {"range", "below_max"},
                    {"range_below_max", "80"}}},
           HandSet{"emphasis", {{"preemphasis", "0.9"}, {"remove_dc", "true"}}},
           HandSet{"kaldi's int16 range", {{"waveform_scale", "32768"}, {"log", "none"}}},
           HandSet{"affine", {{"out_offset", "5.5"}, {"out_scale", "0.5"}}},
           HandSet{"divisors", {{"num_mels", "2"}, {"channel_divisors", "2,-4"}}},
       }) {
    SCOPED_TRACE(hand.name);
    config::MelRecipe recipe;
    for (const auto& [key, value] : hand.values) config::set_mel_value(recipe, key, value);
    expect_accurate(recipe, speech_like(6000));
  }
}

TEST(LogMelRecipeTest, ARecipeOutOfRangeIsRefused) {
  config::MelRecipe recipe;
  recipe.n_fft = 16384;
  EXPECT_THROW(LogMel(recipe, SimdLevel::kScalar), ConfigError);
}

}  // namespace
}  // namespace stoker::audio
