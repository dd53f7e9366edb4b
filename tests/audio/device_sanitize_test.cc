// Small runs of every kernel of the operations with two back ends, for compute-sanitizer.
#include <gtest/gtest.h>

#include "stoker/audio/float_cast.h"
#include "tests/audio/griffin_lim/griffin_lim_waves.h"
#include "tests/audio/ragged_speech.h"

namespace stoker::audio {
namespace {

using DeviceSanitizeTest = cuda::GpuTest;

TEST_F(DeviceSanitizeTest, Casts) {
  using config::MelDtype;
  const std::vector<float> values(2061, -11.5F);
  const GuardedArray<float> from{std::span(values)};
  const GuardedArray<std::uint16_t> to(values.size());
  const cuda::Stream stream(0);
  for (const std::size_t skip : {0U, 1U}) {
    const std::size_t count = values.size() - skip;
    cast_floats({from.data() + skip, MelDtype::kF32, to.data(), MelDtype::kF16, count}, stream);
    cast_floats({to.data(), MelDtype::kF16, from.data() + skip, MelDtype::kF32, count}, stream);
    cast_floats({from.data(), MelDtype::kF32, to.data() + skip, MelDtype::kBf16, count}, stream);
  }
  stream.synchronize();
  EXPECT_TRUE(from.has_whole_guards() && to.has_whole_guards());
}

TEST_F(DeviceSanitizeTest, GainAndNoise) {
  const AugmentRule rule{.gain_db = {-6, 6}, .noise_probability = 0.7};
  EXPECT_EQ(augmented<std::int16_t>(BackEnd::kCuda, ragged(), noises(), rule),
            augmented<std::int16_t>(BackEnd::kCpu, ragged(), noises(), rule));
  EXPECT_EQ(augmented<float>(BackEnd::kCuda, ragged(), noises(), rule),
            augmented<float>(BackEnd::kCpu, ragged(), noises(), rule));
}

TEST_F(DeviceSanitizeTest, GriffinLim) {
  for (const char* preset : {"hifigan", "torchaudio", "kaldi"}) {
    const config::MelRecipe recipe = config::mel_preset(preset);
    const MelFrames frames(recipe, {20, 0, 1, 9});
    const GriffinLimOptions options{.num_iterations = 2};
    EXPECT_EQ(waves_on_gpu(recipe, options, frames), waves_on_cpu(recipe, options, frames));
  }
}

}  // namespace
}  // namespace stoker::audio
