// Operations on a real GPU while any call of the runtime fails.
#include <gtest/gtest.h>

#include "stoker/audio/float_cast.h"
#include "tests/audio/griffin_lim/griffin_lim_waves.h"
#include "tests/audio/mel/mel_back_end.h"
#include "tests/audio/mel/mel_signals.h"
#include "tests/audio/ragged_speech.h"
#include "tests/doubles/failing_calls.h"

namespace stoker::audio {
namespace {

constexpr std::uint64_t kMostFaults = 100;

class DeviceCallFaultTest : public cuda::GpuTest {
 protected:
  void TearDown() override { cuda::plant_call_fault(std::nullopt); }
};

TEST_F(DeviceCallFaultTest, LogMelEndsInAGpuErrorOrTheSameBytes) {
  const MelInput input{.utterances = {speech_like(3000)}};
  for (const char* preset : {"hifigan", "myxtts_tf", "whisper"}) {
    SCOPED_TRACE(preset);
    config::MelRecipe recipe = config::mel_preset(preset);
    if (recipe.fit_samples > 0) recipe.fit_samples = 4000;
    cuda::let_calls_fail(
        [&] {
          return run_back_end({"", MelVariant::kAuto}, recipe, input).bytes;
        },
        kMostFaults);
  }
}

TEST_F(DeviceCallFaultTest, GriffinLimEndsInAGpuErrorOrTheSameBytes) {
  const config::MelRecipe recipe = config::mel_preset("hifigan");
  const MelFrames frames(recipe, {20});
  const GriffinLimOptions options{.num_iterations = 2};
  cuda::let_calls_fail([&] { return waves_on_gpu(recipe, options, frames); }, kMostFaults);
}

TEST_F(DeviceCallFaultTest, GainAndNoiseEndInAGpuErrorOrTheSameBytes) {
  const AugmentRule rule{.gain_db = {-6, 6}, .noise_probability = 0.7};
  const auto run = [&] {
    return augmented<std::int16_t>(BackEnd::kCuda, ragged(), noises(), rule);
  };
  cuda::let_calls_fail(run, kMostFaults);
}

TEST_F(DeviceCallFaultTest, CastsEndInAGpuErrorOrTheSameBytes) {
  const std::vector<float> values(1000, -11.5F);
  const auto run = [&] {
    const GuardedArray<float> from{std::span(values)};
    const GuardedArray<std::uint16_t> to(values.size());
    const cuda::Stream stream(0);
    cast_floats(
        {from.data(), config::MelDtype::kF32, to.data(), config::MelDtype::kF16, values.size()},
        stream);
    stream.synchronize();
    return to.values();
  };
  cuda::let_calls_fail(run, kMostFaults);
}

}  // namespace
}  // namespace stoker::audio
