#include "stoker/cuda/device_probe.h"

#include <gtest/gtest.h>

#include <string_view>

#include "stoker/cuda/nvml.h"
#include "tests/doubles/gpu_present.h"

namespace stoker::cuda {
namespace {

TEST(DeviceProbeTest, GivesDevicesOrTheReasonWhyThereIsNone) {
  const DeviceProbe probe = probe_devices();
  EXPECT_EQ(probe.devices.empty(), !probe.why_none.empty());
}

using ProbedDeviceTest = GpuTest;

TEST_F(ProbedDeviceTest, HasANameMemoryAndCapability) {
  for (const DeviceInfo& device : probe_devices().devices) {
    EXPECT_FALSE(device.name.empty());
    EXPECT_GT(device.memory_bytes, 0U);
    EXPECT_GE(device.compute_major, 7);
    EXPECT_EQ(device.uuid.size(),
              std::string_view("GPU-01234567-0123-0123-0123-0123456789ab").size());
    const auto nvml = Nvml::open();
    EXPECT_TRUE(nvml == nullptr || nvml->find(device.uuid)) << device.uuid;
  }
}

}  // namespace
}  // namespace stoker::cuda
