// Log-mel on the CPU and in each kernel of the GPU, by one suite: accuracy, edges, dtypes, and that
// an utterance's bytes are its own.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "stoker/bench/mel_reference.h"
#include "tests/audio/mel/mel_back_end.h"
#include "tests/audio/mel/mel_signals.h"
#include "tests/audio/real_speech.h"

namespace stoker::audio {
namespace {

struct Row {
  MelBackEnd back_end;
  std::string_view preset;
};

std::string name_of(const testing::TestParamInfo<Row>& row) {
  return row.param.back_end.name + "_" + std::string(row.param.preset);
}

std::vector<Row> rows() {
  const std::vector<MelBackEnd> back_ends{{"Cpu", std::nullopt},
                                          {"Hopper", MelVariant::kHopper},
                                          {"Portable", MelVariant::kPortable},
                                          {"General", MelVariant::kGeneral}};
  std::vector<Row> rows;
  for (const MelBackEnd& back_end : back_ends) {
    for (const std::string_view preset : config::mel_preset_names()) {
      const config::MelRecipe recipe = config::mel_preset(preset);
      if (back_end.is_fast_kernel() && !is_plain_1024(recipe)) continue;
      rows.push_back({back_end, preset});
    }
  }
  return rows;
}

class LogMelBackEndTest : public testing::TestWithParam<Row> {
 protected:
  void SetUp() override {
    if (!GetParam().back_end.variant) return;
    cuda::skip_without_gpu();
    if (GetParam().back_end.variant == MelVariant::kHopper) cuda::skip_without_hopper();
  }
  static config::MelRecipe recipe() {
    config::MelRecipe recipe = config::mel_preset(GetParam().preset);
    if (recipe.fit_samples > 0) recipe.fit_samples = 12000;
    return recipe;
  }
  static MelOutput run(const MelInput& input) {
    return run_back_end(GetParam().back_end, recipe(), input);
  }
};

void expect_accurate(const config::MelRecipe& recipe, const std::vector<std::int16_t>& samples,
                     const std::vector<float>& values) {
  const auto reference = bench::mel_reference(recipe, bench::unit_samples(samples));
  const auto difference = bench::compare_mel(recipe, reference, values);
  EXPECT_TRUE(bench::within_tolerance(recipe, difference))
      << samples.size() << " samples: loud " << difference.largest_loud << " middle "
      << difference.largest_middle << " quiet " << difference.largest_quiet << " mean "
      << difference.mean << " relative " << difference.largest_relative;
}

std::vector<std::int16_t> end_of(const std::vector<std::int16_t>& samples, std::size_t count) {
  return {samples.end() - static_cast<std::ptrdiff_t>(count), samples.end()};
}

TEST_P(LogMelBackEndTest, AgreesWithTheDefinition) {
  const std::vector<std::int16_t> samples = speech_like(9000);
  const MelInput input{.utterances = {samples}};
  expect_accurate(recipe(), samples, run(input).frames(0));
}

TEST_P(LogMelBackEndTest, RealSpeechIsWithinTolerance) {
  MelInput input{.utterances = real_speech()};
  if (input.utterances.empty()) GTEST_SKIP() << kNoRealSpeech;
  const MelOutput out = run(input);
  for (std::size_t u = 0; u < input.utterances.size(); ++u) {
    expect_accurate(recipe(), input.utterances[u], out.frames(u));
  }
}

TEST_P(LogMelBackEndTest, ShortUtterancesReflectInsideThemselves) {
  const std::vector<std::int16_t> samples = speech_like(4023);
  MelInput input;
  for (const std::size_t count : {512, 513, 520, 600, 767, 768, 769, 1023, 1024, 1500}) {
    input.utterances.push_back(end_of(samples, count));
  }
  for (const std::size_t count : {256, 257, 300, 383, 384, 385, 400}) {
    if (static_cast<std::int64_t>(count) >= recipe().hop_samples) {
      input.utterances.push_back(end_of(samples, count));
    }
  }
  const MelOutput out = run(input);
  for (std::size_t u = 0; u < input.utterances.size(); ++u) {
    expect_accurate(recipe(), input.utterances[u], out.frames(u));
  }
}

TEST_P(LogMelBackEndTest, RowsAfterTheLastFrameArePadding) {
  MelInput input{.utterances = {speech_like(25000),
                                {},
                                speech_like(256),
                                speech_like(255),
                                speech_like(9000),
                                speech_like(1)}};
  input.extra_rows = 37;
  const float padding = LogMel(recipe(), detect_simd_level()).padding_value();
  const MelOutput out = run(input);
  for (std::size_t u = 0; u < input.utterances.size(); ++u) {
    const std::vector<float> values = out.values<float>(u);
    for (std::size_t i = out.num_frames[u] * out.num_mels; i < values.size(); ++i) {
      ASSERT_EQ(values[i], padding) << "utterance " << u << " row " << i / out.num_mels;
    }
  }
}

TEST_P(LogMelBackEndTest, NarrowDtypesAreTheRoundedFloats) {
  MelInput input{.utterances = {speech_like(7000), speech_like(3000, 5)}};
  const MelOutput wide = run(input);
  for (const auto dtype : {config::MelDtype::kF16, config::MelDtype::kBf16}) {
    input.dtype = dtype;
    const MelOutput narrow = run(input);
    for (std::size_t u = 0; u < 2; ++u) {
      const std::vector<float> f32 = wide.values<float>(u);
      const auto bits = narrow.values<std::uint16_t>(u);
      for (std::size_t i = 0; i < bits.size(); ++i) {
        ASSERT_EQ(bits[i], dtype == config::MelDtype::kF16 ? f16_bits(f32[i]) : bf16_bits(f32[i]))
            << f32[i];
      }
    }
  }
}

TEST_P(LogMelBackEndTest, FloatSamplesAreAsAccurate) {
  const std::vector<std::int16_t> samples = speech_like(9000);
  MelInput input;
  input.floats.resize(1);
  for (const std::int16_t x : samples) input.floats[0].push_back(static_cast<float>(x) / 32768.0F);
  expect_accurate(recipe(), samples, run(input).frames(0));
}

TEST_P(LogMelBackEndTest, NeighboursBatchSizeAndRepetitionChangeNoByte) {
  const std::vector<std::int16_t> samples = speech_like(11111);
  MelInput alone{.utterances = {samples}};
  alone.extra_rows = 0;
  const MelOutput expected = run(alone);
  const std::vector<std::int16_t> others = speech_like(5000, 3);
  for (const std::size_t neighbours : {1U, 7U, 150U}) {
    MelInput batch;
    for (std::size_t u = 0; u < neighbours; ++u) {
      const auto begin = others.begin() + static_cast<std::ptrdiff_t>(17 * u);
      batch.utterances.emplace_back(begin,
                                    begin + static_cast<std::ptrdiff_t>(300 + 977 * u % 2111));
    }
    const std::size_t at = neighbours / 2;
    batch.utterances.insert(batch.utterances.begin() + static_cast<std::ptrdiff_t>(at), samples);
    for (int repetition = 0; repetition < 2; ++repetition) {
      const MelOutput out = run(batch);
      const auto own = out.utterance(at).first(expected.bytes.size());
      ASSERT_TRUE(std::ranges::equal(own, expected.bytes)) << neighbours << " neighbours";
    }
  }
}

TEST_P(LogMelBackEndTest, ShortBlocksChangeNoByte) {
  if (!GetParam().back_end.variant) GTEST_SKIP() << "blocks are a GPU's";
  MelInput input;
  for (std::size_t u = 0; u < 40; ++u)
    input.utterances.push_back(speech_like(900 + 1777 * u % 30011));
  MelBackEnd brief = GetParam().back_end;
  brief.blocks = MelBlocks::kShort;
  const MelOutput out = run_back_end(brief, recipe(), input);
  EXPECT_TRUE(std::ranges::equal(out.bytes, run(input).bytes));
}

TEST_P(LogMelBackEndTest, SilenceFullScaleAndBrokenFloatsStayFinite) {
  MelInput input;
  input.floats = {std::vector<float>(3000, 0.0F), std::vector<float>(3000), noise(3000, 9)};
  for (std::size_t i = 0; i < 3000; ++i) input.floats[1][i] = i % 2 == 0 ? 0.99997F : -1.0F;
  input.floats[2][100] = std::numeric_limits<float>::quiet_NaN();
  input.floats[2][2000] = std::numeric_limits<float>::infinity();
  input.floats[2][2001] = -3e38F;
  const MelOutput out = run(input);
  for (std::size_t u = 0; u < 3; ++u) {
    for (const float x : out.values<float>(u)) ASSERT_TRUE(std::isfinite(x)) << "utterance " << u;
  }
  const LogMel cpu(recipe(), detect_simd_level());
  const float slack = GetParam().preset == "hifigan" ? 1.5F : 1e-5F;
  for (const float x : out.frames(0)) ASSERT_NEAR(x, cpu.padding_value(), slack);
}

INSTANTIATE_TEST_SUITE_P(BackEnds, LogMelBackEndTest, testing::ValuesIn(rows()), name_of);

}  // namespace
}  // namespace stoker::audio
