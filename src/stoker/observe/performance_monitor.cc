#include "stoker/observe/performance_monitor.h"

#include <unistd.h>

#include <cmath>
#include <exception>
#include <tuple>
#include <utility>

namespace stoker::observe {
namespace {

constexpr std::string_view kOtherOperations = "other operations";

bool is_time(double value_s) { return std::isfinite(value_s) && value_s >= 0; }

double mean_kept(const RecentValues& values) { return mean_of(values.in_order()); }

LoopFigures::Steps summarize_steps(const RecentValues& data_s, const RecentValues& compute_s) {
  const std::vector<double> data = data_s.in_order(), compute = compute_s.in_order();
  std::vector<double> whole(data.size());
  for (std::size_t i = 0; i < data.size(); ++i) whole[i] = data[i] + compute[i];
  return {.count = data_s.num_added(),
          .total_s = data_s.sum() + compute_s.sum(),
          .data = summarize_intervals(data),
          .compute = summarize_intervals(compute),
          .whole = summarize_intervals(whole),
          .cyclic_lag = cyclic_lag(whole)};
}

}  // namespace

PerformanceMonitor::Kept::Kept(std::size_t history)
    : data_s(history),
      compute_s(history),
      cpu_percent(history),
      process_percent(history),
      memory_percent(history),
      gpu_percent(history) {}

PerformanceMonitor::PerformanceMonitor(const MonitorOptions& options, const Clock& clock,
                                       std::unique_ptr<MachineGauge> gauge)
    : options_(options), clock_(clock), kept_(options.history), gauge_(std::move(gauge)) {}

PerformanceMonitor::~PerformanceMonitor() { stop_sampling(); }

PerformanceMonitor::Timer::Timer(PerformanceMonitor& monitor, Operation& operation)
    : monitor_(&monitor), operation_(&operation), begin_(monitor.clock_.now()) {}

PerformanceMonitor::Timer::Timer(Timer&& other) noexcept
    : monitor_(std::exchange(other.monitor_, nullptr)),
      operation_(other.operation_),
      begin_(other.begin_) {}

PerformanceMonitor::Timer::~Timer() {
  if (monitor_ == nullptr) return;
  const std::chrono::duration<double> run = monitor_->clock_.now() - begin_;
  const Lock lock(monitor_->mutex_);
  operation_->runs_s.add(run.count());
}

PerformanceMonitor::Operation& PerformanceMonitor::operation_named(std::string_view name) {
  auto at = kept_.operations.find(name);
  if (at == kept_.operations.end() && kept_.operations.size() >= kMostOperations) {
    name = kOtherOperations;
    at = kept_.operations.find(name);
  }
  if (at == kept_.operations.end())
    at = kept_.operations
             .emplace(std::piecewise_construct, std::forward_as_tuple(name),
                      std::forward_as_tuple(options_.history))
             .first;
  return at->second;
}

PerformanceMonitor::Timer PerformanceMonitor::time_operation(std::string_view name) {
  const Lock lock(mutex_);
  return Timer(*this, operation_named(name));
}

bool PerformanceMonitor::log_operation(std::string_view name, double run_s) {
  if (!is_time(run_s)) return false;
  const Lock lock(mutex_);
  operation_named(name).runs_s.add(run_s);
  return true;
}

bool PerformanceMonitor::log_step_timing(double data_loading_s, double compute_s,
                                         std::uint64_t batch_size) {
  if (!is_time(data_loading_s) || !is_time(compute_s)) return false;
  const Lock lock(mutex_);
  kept_.data_s.add(data_loading_s);
  kept_.compute_s.add(compute_s);
  kept_.num_samples += batch_size;
  return true;
}

void PerformanceMonitor::count_cache_hits(std::uint64_t num_hits) {
  const Lock lock(mutex_);
  kept_.num_hits += num_hits;
}

void PerformanceMonitor::count_cache_misses(std::uint64_t num_misses) {
  const Lock lock(mutex_);
  kept_.num_misses += num_misses;
}

void PerformanceMonitor::sample_now() {
  MachineReading reading;
  {
    const Lock lock(gauge_mutex_);
    if (gauge_ == nullptr) gauge_ = open_machine_gauge(clock_, options_.gpu);
    reading = gauge_->read();
  }
  const Lock lock(mutex_);
  kept_.last_reading = reading;
  kept_.cpu_percent.add(reading.cpu_percent);
  kept_.process_percent.add(reading.process_cpu_percent);
  kept_.memory_percent.add(reading.memory_percent);
  if (reading.gpu_percent) kept_.gpu_percent.add(*reading.gpu_percent);
}

void PerformanceMonitor::start_sampling() {
  const Lock lock(sampler_mutex_);
  if (sampler_ != nullptr) return;
  auto sampler = std::make_unique<Sampler>();
  sampler->process = getpid();
  sampler->thread = Thread("monitor", [this, made = sampler.get()](const std::stop_token& stop) {
    sample_until(*made, stop);
  });
  sampler_ = std::move(sampler);
}

void PerformanceMonitor::stop_sampling() {
  Lock lock(sampler_mutex_);
  std::unique_ptr<Sampler> ending = std::move(sampler_);
  lock.unlock();
  if (ending != nullptr && ending->process != getpid()) std::ignore = ending.release();
}

bool PerformanceMonitor::is_sampling() const {
  const Lock lock(sampler_mutex_);
  return sampler_ != nullptr && sampler_->process == getpid();
}

void PerformanceMonitor::sample_until(Sampler& sampler, const std::stop_token& stop) {
  Lock lock(sampler.mutex);
  for (;;) {
    const Deadline next = Deadline::after(clock_, options_.sample_every);
    WaitEnd end = WaitEnd::kNotified;
    while (end == WaitEnd::kNotified) end = sampler.pause.wait_until(lock, stop, next);
    if (end == WaitEnd::kStopped) return;
    try {
      sample_now();
    } catch (const std::exception&) {
      continue;  // without memory for a reading there is one reading less
    }
  }
}

PerformanceMonitor::Kept PerformanceMonitor::copy_kept() const {
  const Lock lock(mutex_);
  return kept_;
}

LoopFigures PerformanceMonitor::figures() const {
  const Kept kept = copy_kept();  // so that no step waits while values are sorted
  LoopFigures out;
  out.steps = summarize_steps(kept.data_s, kept.compute_s);
  out.steps.num_samples = kept.num_samples;
  for (const auto& [name, operation] : kept.operations) {
    const RecentValues& runs_s = operation.runs_s;
    if (runs_s.num_added() == 0) continue;
    out.operations[name] = {.count = runs_s.num_added(),
                            .total_s = runs_s.sum(),
                            .recent = summarize_intervals(runs_s.in_order())};
  }
  out.machine = {.num_readings = kept.cpu_percent.num_added(),
                 .cpu_percent = mean_kept(kept.cpu_percent),
                 .process_cpu_percent = mean_kept(kept.process_percent),
                 .memory_percent = mean_kept(kept.memory_percent),
                 .gpu_memory_used_bytes = kept.last_reading.gpu_memory_used_bytes,
                 .gpu_memory_total_bytes = kept.last_reading.gpu_memory_total_bytes};
  if (kept.gpu_percent.num_added() > 0) out.machine.gpu_percent = mean_kept(kept.gpu_percent);
  out.num_cache_hits = kept.num_hits;
  out.num_cache_misses = kept.num_misses;
  return out;
}

void PerformanceMonitor::reset() {
  const Lock lock(mutex_);
  // Timers hold on to their operations, so that these stay.
  for (auto& [name, operation] : kept_.operations) operation.runs_s.clear();
  for (RecentValues* const values :
       {&kept_.data_s, &kept_.compute_s, &kept_.cpu_percent, &kept_.process_percent,
        &kept_.memory_percent, &kept_.gpu_percent})
    values->clear();
  kept_.num_samples = kept_.num_hits = kept_.num_misses = 0;
  kept_.last_reading = {};
}

}  // namespace stoker::observe
