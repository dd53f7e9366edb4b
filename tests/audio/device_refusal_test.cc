// What the operations with two back ends say where their GPU half is not built in.
#include <gtest/gtest.h>

#include "stoker/audio/augment/augment_batch.h"
#include "stoker/audio/float_cast.h"
#include "stoker/audio/griffin_lim/griffin_lim.h"
#include "stoker/cuda/device_probe.h"

namespace stoker::audio {
namespace {

TEST(DeviceRefusalTest, APresetThatForgetsTheLevelIsRefusedWithoutAGpu) {
  const Result<DeviceGriffinLim> made =
      DeviceGriffinLim::make(config::mel_preset("myxtts_tf"), {}, 0);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code->name, "E-MEL-INVERT");
}

TEST(DeviceRefusalTest, ABuildWithoutCudaRefusesEachOperation) {
  const std::string why_none = cuda::probe_devices().why_none;
  if (why_none != "built without CUDA") GTEST_SKIP() << "this build has CUDA";
  const cuda::StreamView stream(nullptr);
  EXPECT_THROW(cast_floats({}, stream), GpuError);
  EXPECT_THROW(augment_batch({}, {}, AugmentPlace{nullptr, stream}), GpuError);
  EXPECT_THROW(static_cast<void>(DeviceGriffinLim::make(config::mel_preset("hifigan"), {}, 0)),
               GpuError);
}

}  // namespace
}  // namespace stoker::audio
