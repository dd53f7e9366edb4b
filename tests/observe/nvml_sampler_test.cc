// The GPU's timeline with a driver that a test plays: means of each second, gaps, and no driver.
#include "stoker/observe/nvml_sampler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "tests/doubles/fake_clock.h"

namespace stoker::observe {
namespace {

using std::chrono::milliseconds;

// Lets the sampler take exactly `count` samples, a tenth of a second of its clock apart.
class PlayedGpu {
 public:
  GpuGauge gauge() {
    return {.sample = [this] {
      const int number = num_asked_++;
      if (fails_at_ == number) throw std::runtime_error("lost");
      return cuda::GpuSample{.utilization_percent = number < 10 ? 20U : 80U,
                             .memory_used_bytes = 1000U + static_cast<unsigned>(number),
                             .power_w = 300.0,
                             .throttle_reasons = number == 12 ? 0x4U : 0U};
    }};
  }
  void play(int count) {
    for (int i = 0; i < count; ++i) {
      while (num_asked_.load() <= i) std::this_thread::yield();
      clock.advance(milliseconds(100));
    }
  }

  FakeClock clock;
  int fails_at_ = -1;

 private:
  std::atomic<int> num_asked_ = 0;
};

TEST(NvmlSamplerTest, SecondsAreMeansOfTheirSamples) {
  PlayedGpu gpu;
  NvmlSampler sampler(gpu.gauge(), {.every = milliseconds(100), .clock = &gpu.clock});
  gpu.play(20);
  const GpuTimeline timeline = sampler.finish();
  ASSERT_EQ(timeline.seconds.size(), 2U);
  EXPECT_NEAR(*timeline.least_percent(), 20, 7);
  EXPECT_NEAR(*timeline.seconds[1].utilization_percent, 80, 7);
  EXPECT_NEAR(*timeline.mean_percent(), 50, 7);
  EXPECT_GE(*timeline.peak_memory_bytes, 1018U);
  EXPECT_EQ(timeline.seconds[0].clock_mhz, std::nullopt);
  EXPECT_EQ(timeline.seconds[1].throttle_reasons, 0x4U);
  EXPECT_EQ(timeline.json().at("gpu_throttle").text(), "power cap");
  EXPECT_EQ(timeline.json().at("gpu_timeline").at("util_percent").elements().size(), 2U);
}

TEST(NvmlSamplerTest, SampleThatFailsIsLeftOut) {
  PlayedGpu gpu;
  gpu.fails_at_ = 3;
  NvmlSampler sampler(gpu.gauge(), {.every = milliseconds(100), .clock = &gpu.clock});
  gpu.play(11);
  const GpuTimeline timeline = sampler.finish();
  ASSERT_EQ(timeline.seconds.size(), 1U);
  EXPECT_LT(timeline.seconds[0].num_samples, 11U);
  EXPECT_GT(timeline.seconds[0].num_samples, 5U);
}

TEST(NvmlSamplerTest, PartOfASecondIsNone) {
  PlayedGpu gpu;
  NvmlSampler sampler(gpu.gauge(), {.every = milliseconds(100), .clock = &gpu.clock});
  gpu.play(5);
  EXPECT_TRUE(sampler.finish().seconds.empty());
}

TEST(NvmlSamplerTest, WithoutADriverItSaysWhy) {
  NvmlSampler sampler({.why_none = "no driver here"});
  const GpuTimeline timeline = sampler.finish();
  EXPECT_EQ(timeline.mean_percent(), std::nullopt);
  EXPECT_EQ(timeline.json().at("gpu_util_min").dump(), "null");
  EXPECT_EQ(timeline.json().at("gpu_timeline").at("why_none").text(), "no driver here");
  EXPECT_FALSE(open_gpu_gauge(-1).sample);
}

}  // namespace
}  // namespace stoker::observe
