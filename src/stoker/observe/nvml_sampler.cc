#include "stoker/observe/nvml_sampler.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "stoker/observe/statistics.h"

namespace stoker::observe {
namespace {

struct SecondSums {
  KnownMean utilization, memory, power, clock;
  std::uint64_t throttle_reasons = 0;
  unsigned num_samples = 0;

  void add(const cuda::GpuSample& sample) {
    utilization.add(sample.utilization_percent);
    memory.add(sample.memory_used_bytes);
    power.add(sample.power_w);
    clock.add(sample.clock_mhz);
    throttle_reasons |= sample.throttle_reasons.value_or(0);
    ++num_samples;
  }
  GpuSecond at(double at_s) const {
    return {.at_s = at_s,
            .num_samples = num_samples,
            .utilization_percent = utilization.value(),
            .memory_bytes = memory.value(),
            .power_w = power.value(),
            .clock_mhz = clock.value(),
            .throttle_reasons = throttle_reasons};
  }
};

std::vector<double> percents_of(const std::vector<GpuSecond>& seconds) {
  std::vector<double> percents;
  for (const GpuSecond& second : seconds)
    if (second.utilization_percent) percents.push_back(*second.utilization_percent);
  std::sort(percents.begin(), percents.end());
  return percents;
}

template <class Field>
Json column(const std::vector<GpuSecond>& seconds, Field field) {
  Json values = Json::array();
  for (const GpuSecond& second : seconds) values.push_back(Json(field(second)));
  return values;
}

}  // namespace

std::optional<double> GpuTimeline::mean_percent() const {
  const std::vector<double> percents = percents_of(seconds);
  return percents.empty() ? std::nullopt : std::optional(mean_of(percents));
}

std::optional<double> GpuTimeline::least_percent() const {
  const std::vector<double> percents = percents_of(seconds);
  return percents.empty() ? std::nullopt : std::optional(percents.front());
}

std::optional<double> GpuTimeline::low_percent() const {
  const std::vector<double> percents = percents_of(seconds);
  return percents.empty() ? std::nullopt : std::optional(percents[percents.size() / 20]);
}

Json GpuTimeline::json() const {
  std::uint64_t reasons = 0;
  for (const GpuSecond& second : seconds) reasons |= second.throttle_reasons;
  return Json{
      {"gpu_util_mean", mean_percent()},
      {"gpu_util_min", least_percent()},
      {"gpu_util_p5", low_percent()},
      {"gpu_peak_memory_bytes", peak_memory_bytes},
      {"gpu_throttle", seconds.empty() ? Json() : Json(cuda::throttle_text(reasons))},
      {"gpu_timeline",
       {{"why_none", why_none},
        {"at_s", column(seconds, [](const GpuSecond& each) { return each.at_s; })},
        {"util_percent",
         column(seconds, [](const GpuSecond& each) { return each.utilization_percent; })},
        {"memory_bytes", column(seconds, [](const GpuSecond& each) { return each.memory_bytes; })},
        {"power_w", column(seconds, [](const GpuSecond& each) { return each.power_w; })},
        {"clock_mhz", column(seconds, [](const GpuSecond& each) { return each.clock_mhz; })}}}};
}

NvmlSampler::NvmlSampler(GpuGauge gauge, const SamplerOptions& options)
    : gauge_(std::move(gauge)), options_(options), watch_(*options.clock) {
  if (!gauge_.sample) return;
  thread_ = Thread("gpu-sampler", [this](const std::stop_token& stop) { watch(stop); });
}

void NvmlSampler::watch(const std::stop_token& stop) {
  std::chrono::nanoseconds next = options_.clock->now();
  while (true) {
    Sample sample{.at_s = watch_.seconds()};
    bool is_whole = true;
    try {
      sample.values = gauge_.sample();
    } catch (...) {
      is_whole = false;
    }
    Lock lock(mutex_);
    if (is_whole) samples_.push_back(sample);
    next = std::max(next + options_.every, options_.clock->now());
    WaitEnd end = WaitEnd::kNotified;
    while (end == WaitEnd::kNotified) end = ended_.wait_until(lock, stop, {options_.clock, next});
    if (end == WaitEnd::kStopped) return;
  }
}

GpuTimeline NvmlSampler::finish() {
  const double ended_s = watch_.seconds();
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  GpuTimeline timeline{.why_none = gauge_.why_none};
  const Lock lock(mutex_);
  std::vector<SecondSums> sums(static_cast<std::size_t>(std::max(0.0, std::floor(ended_s))));
  for (const Sample& sample : samples_) {
    if (const auto used = sample.values.memory_used_bytes)
      timeline.peak_memory_bytes = std::max(timeline.peak_memory_bytes.value_or(0), *used);
    const auto second = static_cast<std::size_t>(sample.at_s);
    if (second < sums.size()) sums[second].add(sample.values);
  }
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (sums[i].num_samples > 0) timeline.seconds.push_back(sums[i].at(static_cast<double>(i)));
  return timeline;
}

}  // namespace stoker::observe
