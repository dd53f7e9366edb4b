// What must hold for any sound: frames move with the hop, spectra scale, and nothing but the
// utterance itself decides its bytes.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "stoker/audio/mel/log_mel.h"
#include "tests/audio/mel/mel_signals.h"

namespace stoker::audio {
namespace {

class LogMelPropertyTest : public testing::TestWithParam<std::string_view> {
 protected:
  static config::MelRecipe recipe() {
    config::MelRecipe recipe = config::mel_preset(GetParam());
    if (recipe.fit_samples > 0) recipe.fit_samples = 40000;
    return recipe;
  }
};

std::span<const float> rows(const std::vector<float>& mel, std::size_t num_mels, std::size_t first,
                            std::size_t count) {
  return std::span(mel).subspan(first * num_mels, count * num_mels);
}

TEST_P(LogMelPropertyTest, AShiftByOneHopShiftsTheFrames) {
  config::MelRecipe plain = recipe();
  plain.range = config::MelRange::kNone;  // depends on all frames at once
  const auto hop = static_cast<std::size_t>(plain.hop_samples);
  const std::vector<std::int16_t> samples = speech_like(30000);
  const std::vector<std::int16_t> later(samples.begin() + static_cast<std::ptrdiff_t>(hop),
                                        samples.end());
  for (const SimdLevel level : runnable_levels()) {
    const LogMel mel(plain, level);
    const auto whole = run_mel(mel, samples);
    const auto shifted = run_mel(mel, later);
    // Away from both ends, where the padding differs.
    const std::size_t edge = static_cast<std::size_t>(plain.n_fft) / hop + 1;
    const std::size_t count = mel.num_frames(30000 - hop) - 2 * edge;
    const std::size_t usable = plain.fit_samples > 0 ? 30000 / hop - 2 * edge : count;
    EXPECT_TRUE(std::ranges::equal(rows(whole, mel.num_mels(), edge + 1, usable),
                                   rows(shifted, mel.num_mels(), edge, usable)))
        << simd_level_name(level);
  }
}

TEST_P(LogMelPropertyTest, LoudnessScalesTheSpectrumBeforeTheLogarithm) {
  config::MelRecipe linear = recipe();
  linear.log = config::MelLog::kNone;
  linear.floor = 0.0;
  linear.magnitude_epsilon = 0.0;
  linear.range = config::MelRange::kNone;
  linear.out_offset = 0.0;
  linear.out_scale = 1.0;
  const std::vector<float> quiet = noise(9000, 3);
  std::vector<float> loud = quiet;
  for (float& x : loud) x *= 4.0F;
  const float factor = linear.power == 1 ? 4.0F : 16.0F;
  for (const SimdLevel level : runnable_levels()) {
    const LogMel mel(linear, level);
    const auto a = run_mel(mel, quiet);
    const auto b = run_mel(mel, loud);
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(b[i], a[i] * factor, 2e-6F * b[i]);
  }
}

TEST_P(LogMelPropertyTest, OtherWorkInTheSameWorkspaceLeavesNoTrace) {
  for (const SimdLevel level : runnable_levels()) {
    const LogMel mel(recipe(), level);
    const std::vector<std::int16_t> samples = speech_like(11111);
    const auto alone = run_mel(mel, samples);
    auto workspace = mel.make_workspace(50000);
    std::vector<float> out(mel.num_frames(50000) * mel.num_mels());
    const auto view = mel_view(out, mel.num_mels());
    for (const std::size_t before : {50000, 300, 4096, 777}) {
      mel.run(std::span<const float>(noise(before, before)), view, workspace);
      mel.run(samples, view, workspace);
      ASSERT_EQ(std::memcmp(out.data(), alone.data(), alone.size() * sizeof(float)), 0)
          << simd_level_name(level) << " after " << before;
    }
  }
}

TEST_P(LogMelPropertyTest, ThreadsAndBatchPlaceChangeNoByte) {
  constexpr std::size_t kUtterances = 12;
  constexpr std::size_t kSamples = 6000;
  const LogMel mel(recipe(), detect_simd_level());
  const std::size_t frames = mel.num_frames(kSamples);
  const std::size_t stride = mel.num_mels() + 3;
  std::vector<float> batch(kUtterances * frames * stride, -1.0F);
  std::vector<std::jthread> threads;
  for (std::size_t first = 0; first < 4; ++first) {
    threads.emplace_back([&, first] {
      auto workspace = mel.make_workspace(kSamples);
      for (std::size_t u = first; u < kUtterances; u += 4) {
        mel.run(speech_like(kSamples, u),
                {.data = batch.data() + u * frames * stride, .row_stride = stride, .rows = frames},
                workspace);
      }
    });
  }
  threads.clear();
  for (std::size_t u = 0; u < kUtterances; ++u) {
    const auto alone = run_mel(mel, speech_like(kSamples, u));
    for (std::size_t t = 0; t < frames; ++t) {
      const auto got = std::span(batch).subspan((u * frames + t) * stride, stride);
      ASSERT_TRUE(std::ranges::equal(got.first(mel.num_mels()), rows(alone, mel.num_mels(), t, 1)));
      ASSERT_EQ(got.back(), -1.0F) << "wrote beyond the row";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, LogMelPropertyTest,
                         testing::ValuesIn(config::mel_preset_names().begin(),
                                           config::mel_preset_names().end()),
                         [](const auto& preset) { return std::string(preset.param); });

}  // namespace
}  // namespace stoker::audio
