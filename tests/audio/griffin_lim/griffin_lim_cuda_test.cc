#include "stoker/audio/griffin_lim/griffin_lim.h"

#include <gtest/gtest.h>

#include "stoker/cuda/graph.h"
#include "tests/audio/griffin_lim/griffin_lim_waves.h"

namespace stoker::audio {
namespace {

using DeviceGriffinLimTest = cuda::GpuTest;

struct DevicePresetTest : testing::TestWithParam<const char*> {
  void SetUp() override { cuda::skip_without_gpu(); }
};

TEST_P(DevicePresetTest, GivesTheBytesOfTheCpu) {
  const config::MelRecipe recipe = config::mel_preset(GetParam());
  const MelFrames frames(recipe, {45, 1, 23, 0, 16, 17, 90});
  const GriffinLimOptions options{.num_iterations = 6};
  EXPECT_EQ(waves_on_gpu(recipe, options, frames), waves_on_cpu(recipe, options, frames));
}

INSTANTIATE_TEST_SUITE_P(Presets, DevicePresetTest,
                         testing::Values("hifigan", "tacotron2", "myxtts", "librosa", "torchaudio",
                                         "whisper", "xtts", "kaldi", "vocos24"),
                         [](const auto& row) { return std::string(row.param); });

TEST_F(DeviceGriffinLimTest, SixtyRoundsGiveTheBytesOfTheCpuToo) {
  const config::MelRecipe recipe = config::mel_preset("hifigan");
  const MelFrames frames(recipe, {300, 7});
  EXPECT_EQ(waves_on_gpu(recipe, {}, frames), waves_on_cpu(recipe, {}, frames));
}

// Sizes with every kind of stage: odd, prime factors beyond five, more than 48 KB.
TEST_F(DeviceGriffinLimTest, AnyTransformSizeGivesTheBytesOfTheCpu) {
  for (const std::int64_t n_fft : {64, 135, 1001, 4096, 8192}) {
    config::MelRecipe recipe = config::mel_preset("vocos24");
    recipe.n_fft = recipe.win_samples = n_fft;
    recipe.hop_samples = n_fft / 4;
    recipe.num_mels = 12;
    const MelFrames frames(recipe, {20, 3});
    const GriffinLimOptions options{.num_iterations = 2};
    EXPECT_EQ(waves_on_gpu(recipe, options, frames), waves_on_cpu(recipe, options, frames))
        << n_fft;
  }
}

TEST_F(DeviceGriffinLimTest, AnUtteranceSoundsTheSameWhateverItsNeighbours) {
  const config::MelRecipe recipe = config::mel_preset("hifigan");
  const MelFrames together(recipe, {40, 40, 40});
  MelFrames alone = together;
  alone.num_frames = {40};
  alone.values.assign(together.of(0).begin(), together.of(0).end());
  const GriffinLimOptions options{.num_iterations = 5};
  EXPECT_EQ(waves_on_gpu(recipe, options, alone)[0], waves_on_gpu(recipe, options, together)[0]);
}

TEST_F(DeviceGriffinLimTest, ARecordedGraphGivesTheSameBytesEachTime) {
  const config::MelRecipe recipe = config::mel_preset("hifigan");
  const MelFrames frames(recipe, {40, 9});
  const GriffinLimOptions options{.num_iterations = 5};
  const auto replay = [](const DeviceGriffinLim& way_back, const DeviceWaveBatch& batch,
                         cuda::StreamView stream) {
    const cuda::Graph graph = cuda::Graph::record(stream, [&] { way_back.run(batch, stream); });
    graph.launch(stream);
    graph.launch(stream);
    cuda::system_device_api().synchronize(stream.handle());
  };
  EXPECT_EQ(waves_on_gpu(recipe, options, frames, replay), waves_on_gpu(recipe, options, frames));
}

}  // namespace
}  // namespace stoker::audio
