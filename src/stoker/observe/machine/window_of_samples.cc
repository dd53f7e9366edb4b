#include "stoker/observe/machine/window_of_samples.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "stoker/observe/statistics.h"

namespace stoker::observe {
namespace {

using std::chrono::nanoseconds;

double seconds_between(const MachineSample& first, const MachineSample& last) {
  return std::chrono::duration<double>(last.at - first.at).count();
}

template <class Number>
std::optional<double> grown(const std::optional<Number>& first, const std::optional<Number>& last) {
  if (!first || !last || *last < *first) return std::nullopt;
  return static_cast<double>(*last - *first);
}

std::optional<double> divided(std::optional<double> part, std::optional<double> whole) {
  if (!part || !whole || *whole <= 0) return std::nullopt;
  return *part / *whole;
}

// A share of time: both ends were read at slightly different moments.
std::optional<double> share_of(std::optional<double> part, std::optional<double> whole) {
  const std::optional<double> share = divided(part, whole);
  return share ? std::optional(std::min(*share, 1.0)) : std::nullopt;
}

template <class Wanted>
const MachineSample* nearest(const std::deque<MachineSample>& samples, nanoseconds at,
                             const Wanted& wanted) {
  const MachineSample* best = nullptr;
  for (const MachineSample& sample : samples) {
    if (!wanted(sample)) continue;
    if (best != nullptr && std::abs((best->at - at).count()) < std::abs((sample.at - at).count()))
      continue;
    best = &sample;
  }
  return best;
}

std::vector<ThreadLoad> loads_between(const std::vector<ThreadTimes>& first,
                                      const std::vector<ThreadTimes>& last, double passed_s) {
  std::map<std::string, ThreadLoad> loads;
  for (const ThreadTimes& now : last) {
    const auto before =
        std::lower_bound(first.begin(), first.end(), now.id,
                         [](const ThreadTimes& times, std::uint32_t id) { return times.id < id; });
    // A thread that was not there then, or another one under its number, began in between.
    const bool is_same = before != first.end() && before->id == now.id &&
                         before->cpu_ns <= now.cpu_ns && before->wait_ns <= now.wait_ns;
    ThreadLoad& load = loads[now.name.data()];
    ++load.num_threads;
    load.cpu_cores += static_cast<double>(now.cpu_ns - (is_same ? before->cpu_ns : 0));
    load.run_queue_wait += static_cast<double>(now.wait_ns - (is_same ? before->wait_ns : 0));
  }
  std::vector<ThreadLoad> sorted;
  for (auto& [name, load] : loads) {
    load.name = name;
    load.cpu_cores /= passed_s * 1e9;
    load.run_queue_wait /= passed_s * 1e9;
    sorted.push_back(std::move(load));
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const ThreadLoad& a, const ThreadLoad& b) {
    return a.run_queue_wait > b.run_queue_wait;
  });
  return sorted;
}

struct Pair {
  const MachineSample& first;
  const MachineSample& last;
  double passed_s = 0;
};

void take_cpu(const Pair& pair, CpuWindow& into) {
  const CpuCounters &first = pair.first.dear->cpu, &last = pair.last.dear->cpu;
  const double passed_s = pair.passed_s;
  into.busy_cores = divided(grown(first.busy_s, last.busy_s), passed_s);
  into.own_cores = divided(grown(pair.first.own_cpu_s, pair.last.own_cpu_s), passed_s);
  const auto allowed = divided(grown(first.allowed_busy_s, last.allowed_busy_s), passed_s);
  if (allowed && into.own_cores) into.other_cores = std::max(0.0, *allowed - *into.own_cores);
  into.steal_share = share_of(grown(first.allowed_steal_s, last.allowed_steal_s),
                              grown(first.allowed_total_s, last.allowed_total_s));
  into.threads = loads_between(first.threads, last.threads, passed_s);
  if (!into.threads.empty()) {
    into.run_queue_wait = 0;
    for (const ThreadLoad& load : into.threads) *into.run_queue_wait += load.run_queue_wait;
  }
  into.quota_cores = last.quota_cores;
  const auto num_throttled = grown(first.num_throttled, last.num_throttled);
  if (num_throttled) into.num_throttled = static_cast<std::uint64_t>(*num_throttled);
  const auto num_periods = grown(first.num_periods, last.num_periods);
  into.throttled_share = num_periods == 0.0 ? num_throttled : share_of(num_throttled, num_periods);
  into.pressure = share_of(grown(first.pressure_s, last.pressure_s), passed_s);
}

void take_limits(const MemoryCounters& last, MemoryWindow& into) {
  into.total_bytes = last.total_bytes;
  into.limit_bytes = last.limit_bytes;
  into.group_bytes = last.group_bytes;
}

void take_memory(const Pair& pair, MemoryWindow& into) {
  const MemoryCounters &first = pair.first.dear->memory, &last = pair.last.dear->memory;
  into.swap_in_pages_per_s = divided(grown(first.swap_in_pages, last.swap_in_pages), pair.passed_s);
  into.swap_out_pages_per_s =
      divided(grown(first.swap_out_pages, last.swap_out_pages), pair.passed_s);
  into.pressure = share_of(grown(first.pressure_s, last.pressure_s), pair.passed_s);
}

void take_storage(const Pair& pair, StorageWindow& into) {
  const StorageCounters &first = pair.first.dear->storage, &last = pair.last.dear->storage;
  const double passed_s = pair.passed_s;
  into.own_read_bytes_per_s = divided(grown(first.read_bytes, last.read_bytes), passed_s);
  into.own_asked_bytes_per_s = divided(grown(first.asked_bytes, last.asked_bytes), passed_s);
  into.pressure = share_of(grown(first.pressure_s, last.pressure_s), passed_s);
  if (!first.disk || !last.disk) return;
  const auto growth = [&](std::uint64_t DiskCounters::*counter) {
    return grown(std::optional(*first.disk.*counter), std::optional(*last.disk.*counter));
  };
  into.device_read_bytes_per_s = divided(growth(&DiskCounters::read_bytes), passed_s);
  into.device_busy_share = share_of(growth(&DiskCounters::busy_ms), passed_s * 1e3);
  into.device_read_ms =
      divided(growth(&DiskCounters::reading_ms), growth(&DiskCounters::num_reads));
  into.device_queue = divided(growth(&DiskCounters::queued_ms), passed_s * 1e3);
}

template <class T>
void take_larger(std::optional<T>& most, const std::optional<T>& value) {
  if (value && (!most || *most < *value)) most = value;
}

// Gathers the samples inside the window.
class Gathered {
 public:
  void add(const MachineSample& sample) {
    if (sample.available_bytes &&
        (!least_available_ || *sample.available_bytes < *least_available_))
      least_available_ = sample.available_bytes;
    if (sample.gpu) add_gpu(*sample.gpu);
    if (sample.dear == nullptr) return;
    page_cache_.add(sample.dear->storage.page_cache_share);
    if (sample.dear->link) add_link(*sample.dear->link);
  }
  std::optional<std::uint64_t> least_available() const { return least_available_; }
  std::optional<double> page_cache_share() const { return page_cache_.value(); }
  GpuWindow gpu() const {
    GpuWindow gpu = gpu_;
    gpu.utilization_percent = utilization_.value();
    gpu.power_w = power_.value();
    gpu.clock_mhz = clock_.value();
    gpu.throttled_share = throttled_.value();
    gpu.pcie_rx_mb_per_s = rx_.value();
    gpu.pcie_tx_mb_per_s = tx_.value();
    return gpu;
  }

 private:
  void add_gpu(const cuda::GpuSample& sample) {
    utilization_.add(sample.utilization_percent);
    power_.add(sample.power_w);
    clock_.add(sample.clock_mhz);
    take_larger(gpu_.memory_used_bytes, sample.memory_used_bytes);
    take_larger(gpu_.temperature_c, sample.temperature_c);
    if (sample.memory_total_bytes) gpu_.memory_total_bytes = sample.memory_total_bytes;
    if (!sample.throttle_reasons) return;
    gpu_.throttle_reasons = gpu_.throttle_reasons.value_or(0) | *sample.throttle_reasons;
    throttled_.add(
        std::optional((*sample.throttle_reasons & cuda::kHardThrottles) != 0 ? 1.0 : 0.0));
  }
  void add_link(const cuda::GpuLink& link) {
    rx_.add(link.pcie_rx_mb_per_s);
    tx_.add(link.pcie_tx_mb_per_s);
    gpu_.power_limit_w = link.power_limit_w;
    if (link.max_clock_mhz) gpu_.max_clock_mhz = *link.max_clock_mhz;
    take_larger(gpu_.pcie_generation, link.pcie_generation);  // an idle link runs slower
    take_larger(gpu_.pcie_width, link.pcie_width);
    gpu_.max_pcie_generation = link.max_pcie_generation;
    gpu_.max_pcie_width = link.max_pcie_width;
    take_larger(gpu_.num_other_processes, link.num_other_processes);
  }

  std::optional<std::uint64_t> least_available_;
  GpuWindow gpu_;
  KnownMean utilization_, power_, clock_, throttled_, rx_, tx_, page_cache_;
};

std::optional<double> available_share(const MemoryWindow& memory) {
  std::optional<double> share;
  if (memory.available_bytes && memory.total_bytes.value_or(0) > 0)
    share = static_cast<double>(*memory.available_bytes) / static_cast<double>(*memory.total_bytes);
  if (!memory.group_bytes || memory.limit_bytes.value_or(0) == 0) return share;
  const double used =
      static_cast<double>(*memory.group_bytes) / static_cast<double>(*memory.limit_bytes);
  return std::min(share.value_or(1.0), std::max(0.0, 1.0 - used));
}

void take_own(const Pair& pair, MemoryWindow& into) {
  into.minor_faults_per_s =
      divided(grown(pair.first.num_minor_faults, pair.last.num_minor_faults), pair.passed_s);
  into.major_faults_per_s =
      divided(grown(pair.first.num_major_faults, pair.last.num_major_faults), pair.passed_s);
}

}  // namespace

MachineWindow window_of_samples(const std::deque<MachineSample>& samples, nanoseconds from,
                                nanoseconds to, const MachineFacts& facts) {
  MachineWindow window{.wall_s = std::chrono::duration<double>(to - from).count(),
                       .why_no_gpu = facts.why_no_gpu};
  window.cpu.num_allowed_cores = facts.num_allowed_cores;
  window.storage.kind = facts.storage;
  window.storage.file_system = facts.file_system;
  window.storage.device = facts.device;

  const auto is_any = [](const MachineSample&) { return true; };
  const auto is_dear = [](const MachineSample& sample) { return sample.dear != nullptr; };
  if (samples.empty()) return window;
  const Pair own{*nearest(samples, from, is_any), *nearest(samples, to, is_any)};
  if (const double passed_s = seconds_between(own.first, own.last); passed_s > 0)
    take_own({own.first, own.last, passed_s}, window.memory);
  const MachineSample* const first = nearest(samples, from, is_dear);
  const MachineSample* const last = nearest(samples, to, is_dear);
  if (last != nullptr) take_limits(last->dear->memory, window.memory);
  if (first != nullptr && first->at < last->at) {
    const Pair pair{*first, *last, seconds_between(*first, *last)};
    take_cpu(pair, window.cpu);
    take_memory(pair, window.memory);
    take_storage(pair, window.storage);
  }
  Gathered gathered;
  for (const MachineSample& sample : samples) {
    if (sample.at < own.first.at || sample.at > own.last.at) continue;
    gathered.add(sample);
    ++window.num_samples;
  }
  window.memory.available_bytes = gathered.least_available();
  window.storage.page_cache_share = gathered.page_cache_share();
  window.memory.available_share = available_share(window.memory);
  if (!facts.why_no_gpu.empty()) return window;
  window.gpu = gathered.gpu();
  window.gpu->uuid = facts.gpu_uuid;
  return window;
}

}  // namespace stoker::observe
