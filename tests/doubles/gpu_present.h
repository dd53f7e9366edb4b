// Skips tests that need a GPU where there is none, with the driver's words.
#pragma once

#include <gtest/gtest.h>

#include "stoker/cuda/device_probe.h"

namespace stoker::cuda {

// Both for SetUp(): the test's body does not run after them.
inline void skip_without_gpu() {
  const DeviceProbe probe = probe_devices();
  if (probe.devices.empty()) GTEST_SKIP() << probe.why_none;
}
inline void skip_without_hopper() {
  const DeviceProbe probe = probe_devices();
  if (probe.devices.empty()) GTEST_SKIP() << probe.why_none;
  if (probe.devices[0].compute_major != 9) {
    GTEST_SKIP() << probe.devices[0].name << " is no Hopper GPU";
  }
}

class GpuTest : public testing::Test {
 protected:
  void SetUp() override { skip_without_gpu(); }
};

}  // namespace stoker::cuda
