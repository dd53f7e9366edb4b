#include "stoker/audio/device_griffin_lim.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stoker/base/philox.h"
#include "stoker/cuda/check.h"
#include "stoker/cuda/status_text.h"
#include "tests/audio/back_end.h"

namespace stoker::audio {
namespace {

// Frames of a ragged batch with values as the recipe writes them.
struct Frames {
  Frames(const config::MelRecipe& recipe, std::vector<std::int32_t> lengths)
      : num_mels(static_cast<std::size_t>(recipe.num_mels)),
        num_frames(std::move(lengths)),
        padded_frames(*std::max_element(num_frames.begin(), num_frames.end())) {
    KeyedDraws draws({7, "frames", 0, 0});
    values.resize(num_frames.size() * static_cast<std::size_t>(padded_frames) * num_mels);
    const bool is_log = recipe.log != config::MelLog::kNone;
    for (float& value : values) {
      const double level = draws.next_between(-8, 1);
      value = static_cast<float>(is_log ? level / 8 : std::exp(level));
    }
  }
  std::span<const float> of(std::size_t utterance) const {
    return std::span(values).subspan(utterance * static_cast<std::size_t>(padded_frames) * num_mels,
                                     static_cast<std::size_t>(num_frames[utterance]) * num_mels);
  }

  std::size_t num_mels;
  std::vector<std::int32_t> num_frames;
  std::int32_t padded_frames;
  std::vector<float> values;
};

using Waves = std::vector<std::vector<float>>;

Waves on_cpu(const config::MelRecipe& recipe, const GriffinLimOptions& options,
             const Frames& frames) {
  const GriffinLim way_back =
      GriffinLim::make(recipe, options, detect_simd_level()).take_or_raise();
  GriffinLim::Workspace workspace;
  Waves waves;
  for (std::size_t u = 0; u < frames.num_frames.size(); ++u) {
    waves.emplace_back(way_back.num_samples(static_cast<std::size_t>(frames.num_frames[u])));
    way_back.run(frames.of(u), waves.back(), workspace);
  }
  return waves;
}

Waves on_gpu(const config::MelRecipe& recipe, const GriffinLimOptions& options,
             const Frames& frames) {
  constexpr std::size_t kBeyond = 13;  // samples after the longest utterance
  const DeviceGriffinLim way_back = DeviceGriffinLim::make(recipe, options, 0).take_or_raise();
  const std::size_t count = frames.num_frames.size();
  const auto padded_frames = static_cast<std::size_t>(frames.padded_frames);
  const std::size_t padded = way_back.num_samples(padded_frames) + kBeyond;
  const GuardedArray<float> log_mel{std::span(frames.values)};
  const GuardedArray<std::int32_t> num_frames{std::span(frames.num_frames)};
  const GuardedArray<float> samples(count * padded);
  const GuardedArray<std::byte> scratch(way_back.scratch_bytes(count, padded_frames));
  const cuda::Stream stream(0);
  way_back.run({.log_mel = log_mel.data(),
                .num_frames = num_frames.data(),
                .num_utterances = static_cast<int>(count),
                .padded_frames = frames.padded_frames,
                .samples = samples.data(),
                .padded_samples = static_cast<std::int64_t>(padded),
                .scratch = scratch.data()},
               stream);
  stream.synchronize();
  EXPECT_TRUE(samples.has_whole_guards() && scratch.has_whole_guards());
  const std::vector<float> all = samples.values();
  Waves waves;
  for (std::size_t u = 0; u < count; ++u) {
    const auto row = std::span(all).subspan(u * padded, padded);
    const std::size_t length = way_back.num_samples(static_cast<std::size_t>(frames.num_frames[u]));
    waves.emplace_back(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(length));
    for (const float value : row.subspan(length)) EXPECT_EQ(value, 0.0F) << "after utterance " << u;
  }
  return waves;
}

struct DeviceGriffinLimTest : testing::Test {
  void SetUp() override {
    const cuda::DeviceProbe probe = cuda::probe_devices();
    if (probe.devices.empty()) GTEST_SKIP() << probe.why_none;
  }
  void TearDown() override { cuda::plant_call_fault(std::nullopt); }
};

struct DevicePresetTest : testing::TestWithParam<const char*> {
  void SetUp() override {
    const cuda::DeviceProbe probe = cuda::probe_devices();
    if (probe.devices.empty()) GTEST_SKIP() << probe.why_none;
  }
};

TEST_P(DevicePresetTest, GivesTheBytesOfTheCpu) {
  const config::MelRecipe recipe = config::mel_preset(GetParam());
  const Frames frames(recipe, {45, 1, 23, 0, 16, 17, 90});
  const GriffinLimOptions options{.num_iterations = 6};
  EXPECT_EQ(on_gpu(recipe, options, frames), on_cpu(recipe, options, frames));
}

INSTANTIATE_TEST_SUITE_P(Presets, DevicePresetTest,
                         testing::Values("hifigan", "tacotron2", "myxtts", "librosa", "torchaudio",
                                         "whisper", "xtts", "kaldi", "vocos24"),
                         [](const auto& row) { return std::string(row.param); });

TEST_F(DeviceGriffinLimTest, SixtyRoundsGiveTheBytesOfTheCpuToo) {
  const config::MelRecipe recipe = config::mel_preset("hifigan");
  const Frames frames(recipe, {300, 7});
  EXPECT_EQ(on_gpu(recipe, {}, frames), on_cpu(recipe, {}, frames));
}

// Sizes with every kind of stage: odd, prime factors beyond five, more than 48 KB.
TEST_F(DeviceGriffinLimTest, AnyTransformSizeGivesTheBytesOfTheCpu) {
  for (const std::int64_t n_fft : {64, 135, 1001, 4096, 8192}) {
    config::MelRecipe recipe = config::mel_preset("vocos24");
    recipe.n_fft = recipe.win_samples = n_fft;
    recipe.hop_samples = n_fft / 4;
    recipe.num_mels = 12;
    const Frames frames(recipe, {20, 3});
    const GriffinLimOptions options{.num_iterations = 2};
    EXPECT_EQ(on_gpu(recipe, options, frames), on_cpu(recipe, options, frames)) << n_fft;
  }
}

TEST_F(DeviceGriffinLimTest, AnUtteranceSoundsTheSameWhateverItsNeighbours) {
  const config::MelRecipe recipe = config::mel_preset("hifigan");
  const Frames together(recipe, {40, 40, 40});
  Frames alone = together;
  alone.num_frames = {40};
  alone.values.assign(together.of(0).begin(), together.of(0).end());
  const GriffinLimOptions options{.num_iterations = 5};
  EXPECT_EQ(on_gpu(recipe, options, alone)[0], on_gpu(recipe, options, together)[0]);
}

TEST_F(DeviceGriffinLimTest, AnyFailingCallEndsInAnException) {
  const config::MelRecipe recipe = config::mel_preset("hifigan");
  const Frames frames(recipe, {20});
  const GriffinLimOptions options{.num_iterations = 2};
  cuda::plant_call_fault(std::nullopt);
  const Waves wanted = on_gpu(recipe, options, frames);
  const std::uint64_t count = cuda::num_calls();
  for (std::uint64_t at = 0; at < count; ++at) {
    cuda::plant_call_fault(cuda::CallFault{.at = at, .status = cuda::kStatusMemory});
    EXPECT_THROW(on_gpu(recipe, options, frames), GpuError) << "call " << at;
  }
  cuda::plant_call_fault(std::nullopt);
  EXPECT_EQ(on_gpu(recipe, options, frames), wanted);
}

TEST(DeviceGriffinLimRefusalTest, APresetThatForgetsTheLevelIsRefusedWithoutAGpu) {
  const Result<DeviceGriffinLim> made =
      DeviceGriffinLim::make(config::mel_preset("myxtts_tf"), {}, 0);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code->name, "E-MEL-INVERT");
}

}  // namespace
}  // namespace stoker::audio
