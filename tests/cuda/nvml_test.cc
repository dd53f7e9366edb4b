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

TEST(NvmlTest, GpuIsFoundByItsUuidWhateverItsNumberElsewhere) {
  std::string why;
  const auto nvml = Nvml::open(&why, STOKER_FAKE_NVML);
  ASSERT_NE(nvml, nullptr) << why;
  EXPECT_EQ(nvml->sample(nvml->find("GPU-22").value()).utilization_percent, 41U);
  EXPECT_EQ(nvml->sample(nvml->find("GPU-11").value()).utilization_percent, 40U);
  EXPECT_FALSE(nvml->find("GPU-44"));
  EXPECT_EQ(nvml->name(1), "second");
}

TEST(NvmlTest, SliceHasMemoryOfItsOwnAndTheClocksOfItsCard) {
  const auto nvml = Nvml::open(nullptr, STOKER_FAKE_NVML);
  ASSERT_NE(nvml, nullptr);
  const GpuSample sample = nvml->sample(nvml->find("MIG-33").value());
  EXPECT_EQ(sample.utilization_percent, std::nullopt);
  EXPECT_EQ(sample.memory_total_bytes, 100U);
  EXPECT_EQ(sample.clock_mhz, 1980U);
}

TEST(NvmlTest, LinkHasBusLimitsAndOthersOnTheGpu) {
  const auto nvml = Nvml::open(nullptr, STOKER_FAKE_NVML);
  ASSERT_NE(nvml, nullptr);
  const GpuLink link = nvml->link(nvml->find("GPU-11").value());
  EXPECT_EQ(link.power_limit_w, 700);
  EXPECT_EQ(link.max_clock_mhz, 2010U);
  EXPECT_EQ(link.pcie_rx_mb_per_s, 12'000);
  EXPECT_EQ(link.pcie_tx_mb_per_s, 0.5);
  EXPECT_EQ(link.pcie_generation, 3U);
  EXPECT_EQ(link.max_pcie_generation, 5U);
  EXPECT_EQ(link.max_pcie_width, std::nullopt);
  EXPECT_EQ(link.num_other_processes, 2U);
  EXPECT_EQ(nvml->link(nvml->find("GPU-22").value()).num_other_processes, std::nullopt);
}

TEST(NvmlTest, SampleHasWhatTheGpuReportsAndLeavesOutTheRest) {
  const auto nvml = Nvml::open(nullptr, STOKER_FAKE_NVML);
  ASSERT_NE(nvml, nullptr);
  const GpuSample sample = nvml->sample(1);
  EXPECT_EQ(sample.utilization_percent, 41U);
  EXPECT_EQ(sample.memory_used_bytes, 300U);
  EXPECT_EQ(sample.power_w, 250.5);
  EXPECT_EQ(sample.clock_mhz, 1980U);
  EXPECT_EQ(sample.fan_percent, std::nullopt);
  EXPECT_EQ(nvml->sample(0).fan_percent, 33U);
  EXPECT_EQ(throttle_text(sample.throttle_reasons.value()), "power cap");
}

TEST(NvmlTest, LibraryThatIsNotThereIsNamed) {
  std::string why;
  EXPECT_EQ(Nvml::open(&why, "/nowhere/libnvidia-ml.so"), nullptr);
  EXPECT_EQ(why, "/nowhere/libnvidia-ml.so is not here: no NVIDIA driver");
  EXPECT_EQ(Nvml::open(&why, "libm.so.6"), nullptr);
  EXPECT_EQ(why, "libm.so.6 is too old");
}

TEST(NvmlTest, ThrottleReasonsAreWords) {
  EXPECT_EQ(throttle_text(0), "");
  EXPECT_EQ(throttle_text(0x1 | 0x40), "idle, heat (hardware)");
  EXPECT_EQ(throttle_text(std::uint64_t{1} << 40U), "bit 40");
}

}  // namespace
}  // namespace stoker::cuda
