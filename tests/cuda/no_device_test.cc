#include <gtest/gtest.h>

#include "stoker/base/error.h"
#include "stoker/cuda/device_api.h"
#include "stoker/cuda/device_buffer.h"
#include "stoker/cuda/device_probe.h"
#include "stoker/cuda/stream.h"

namespace stoker::cuda {
namespace {

// Without a GPU, or without CUDA in the build, every use ends in an error that says so.
TEST(NoDeviceTest, EveryOwnerRefusesWithExitSix) {
  if (!probe_devices().devices.empty()) GTEST_SKIP() << "there is a GPU here";
  EXPECT_THROW(DeviceBuffer(0, 64), GpuError);
  EXPECT_THROW(Stream(0), GpuError);
  EXPECT_THROW(system_device_api().allocate_pinned(64), GpuError);
  EXPECT_THROW(system_device_api().enter_thread(0), GpuError);
}

TEST(NoDeviceTest, EmptyBuffersNeedNoDevice) {
  EXPECT_EQ(DeviceBuffer().data(), nullptr);
  EXPECT_EQ(DeviceBuffer(0, 0).size_bytes(), 0U);
}

}  // namespace
}  // namespace stoker::cuda
