#include "stoker/cuda/device_probe.h"

#include <gtest/gtest.h>

namespace stoker::cuda {
namespace {

TEST(DeviceProbeTest, GivesDevicesOrTheReasonWhyThereIsNone) {
  const DeviceProbe probe = probe_devices();
  EXPECT_EQ(probe.devices.empty(), !probe.why_none.empty());
}

TEST(DeviceProbeTest, EveryDeviceHasANameMemoryAndCapability) {
  const DeviceProbe probe = probe_devices();
  if (probe.devices.empty()) GTEST_SKIP() << probe.why_none;
  for (const DeviceInfo& device : probe.devices) {
    EXPECT_FALSE(device.name.empty());
    EXPECT_GT(device.memory_bytes, 0U);
    EXPECT_GE(device.compute_major, 7);
  }
}

}  // namespace
}  // namespace stoker::cuda
