#include "stoker/cuda/nvml.h"

#include <gtest/gtest.h>

#include <string>

namespace stoker::cuda {
namespace {

TEST(NvmlTest, OpensOrSaysWhatIsMissing) {
  std::string why;
  const auto nvml = Nvml::open(&why);
  EXPECT_EQ(nvml == nullptr, !why.empty());
}

TEST(NvmlTest, SamplesHaveMemoryAndAPlausibleUtilization) {
  std::string why;
  const auto nvml = Nvml::open(&why);
  if (nvml == nullptr) GTEST_SKIP() << why;
  ASSERT_GT(nvml->num_devices(), 0U);
  EXPECT_FALSE(nvml->name(0).empty());
  const GpuSample sample = nvml->sample(0);
  EXPECT_GT(sample.memory_total_bytes.value_or(0), 0U);
  EXPECT_LE(sample.utilization_percent.value_or(0), 100U);
  EXPECT_FALSE(nvml->sample(9999).memory_total_bytes.has_value());
}

}  // namespace
}  // namespace stoker::cuda
