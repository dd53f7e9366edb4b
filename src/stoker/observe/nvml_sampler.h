// How busy one GPU is while something runs, as the driver tells it several times a second: what
// people read off nvidia-smi, with the means of each second.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/json.h"
#include "stoker/base/thread/sync.h"
#include "stoker/cuda/nvml.h"
#include "stoker/observe/machine/gpu_gauge.h"

namespace stoker::observe {

// Means over the samples of one second; a field that the GPU does not report is absent.
struct GpuSecond {
  double at_s = 0;  // its beginning, since the sampler's
  unsigned num_samples = 0;
  std::optional<double> utilization_percent{};
  std::optional<double> memory_bytes{};
  std::optional<double> power_w{};
  std::optional<double> clock_mhz{};
  std::uint64_t throttle_reasons = 0;  // all that were seen
};

struct GpuTimeline {
  std::vector<GpuSecond> seconds{};  // whole ones
  std::optional<std::uint64_t> peak_memory_bytes{};
  std::string why_none{};  // why there is no second, where the driver is the reason

  // Of the seconds' utilisation; nothing without a second.
  std::optional<double> mean_percent() const;
  std::optional<double> least_percent() const;
  std::optional<double> low_percent() const;  // a twentieth of the seconds are below it
  // gpu_util_mean, gpu_util_min, gpu_util_p5, gpu_timeline{…}; null what is not known.
  Json json() const;
};

struct SamplerOptions {
  std::chrono::nanoseconds every = std::chrono::milliseconds(100);
  const Clock* clock = &system_clock();
};

// Asks on a thread of its own from construction until finish(). A gauge that throws ends nothing:
// that sample is left out.
class NvmlSampler {
 public:
  explicit NvmlSampler(GpuGauge gauge, const SamplerOptions& options = {});
  GpuTimeline finish();

 private:
  struct Sample {
    double at_s = 0;
    cuda::GpuSample values{};
  };
  void watch(const std::stop_token& stop);

  GpuGauge gauge_;
  SamplerOptions options_;
  Stopwatch watch_;
  Mutex mutex_;
  ConditionVariable ended_;
  std::vector<Sample> samples_ STOKER_GUARDED_BY(mutex_);
  Thread thread_;  // last: ends first
};

}  // namespace stoker::observe
