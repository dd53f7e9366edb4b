#include "stoker/bench/device_ops_bench.h"

#include <gtest/gtest.h>

#include "stoker/base/error.h"
#include "tests/doubles/gpu_present.h"

namespace stoker::bench {
namespace {

using DeviceOpsBenchTest = cuda::GpuTest;

TEST_F(DeviceOpsBenchTest, EveryRowIsComparedAndTimed) {
  const DeviceOpsReport report = bench_device_ops({.num_repeats = 1}, {});
  EXPECT_GT(report.copy_gb_per_s, 0);
  EXPECT_EQ(report.rows.size(), 11U);
  for (const DeviceOpRow& row : report.rows) {
    EXPECT_GT(row.clips_per_s, row.cpu_clips_per_s) << row.operation << " " << row.detail;
    EXPECT_GT(row.cpu_clips_per_s, 0) << row.operation << " " << row.detail;
  }
}

TEST(DeviceOpsRefusalTest, WithoutAGpuItIsRefused) {
  if (!cuda::probe_devices().devices.empty()) GTEST_SKIP() << "there is a GPU";
  EXPECT_THROW(bench_device_ops({}, {}), GpuError);
}

}  // namespace
}  // namespace stoker::bench
