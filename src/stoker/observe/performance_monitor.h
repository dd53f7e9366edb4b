// What a training loop tells about itself, and what follows from it: time for data and for compute,
// named operations, hits of the cache, how busy the machine is.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "stoker/base/json.h"
#include "stoker/base/thread/sync.h"
#include "stoker/observe/bottleneck.h"
#include "stoker/observe/machine_gauge.h"
#include "stoker/observe/statistics.h"

namespace stoker::observe {

struct MonitorOptions {
  std::size_t history = 1000;  // how many steps, readings and runs of an operation are kept
  std::chrono::nanoseconds sample_every = std::chrono::seconds(1);
  unsigned gpu = 0;  // as nvidia-smi counts
};

// Thread-safe. Its memory is bounded whatever it is told; a step and an operation that was timed
// before allocate nothing.
class PerformanceMonitor {
 public:
  // Operations of further names are summed up as "other operations".
  static constexpr std::size_t kMostOperations = 256;

  // Without `gauge` the machine's own is opened when the first reading is taken.
  explicit PerformanceMonitor(const MonitorOptions& options = {},
                              const Clock& clock = system_clock(),
                              std::unique_ptr<MachineGauge> gauge = nullptr);
  // In a child that was forked while sampling this leaves the parent's thread alone.
  ~PerformanceMonitor();
  PerformanceMonitor(const PerformanceMonitor&) = delete;
  PerformanceMonitor& operator=(const PerformanceMonitor&) = delete;

 private:
  struct Operation {
    explicit Operation(std::size_t history) : runs_s(history) {}
    RecentValues runs_s;
  };
  struct Kept {
    explicit Kept(std::size_t history);

    std::map<std::string, Operation, std::less<>> operations;
    RecentValues data_s, compute_s;
    RecentValues cpu_percent, process_percent, memory_percent, gpu_percent;
    MachineReading last_reading;
    std::uint64_t num_samples = 0;
    std::uint64_t num_hits = 0;
    std::uint64_t num_misses = 0;
  };

 public:
  // Adds the time from its making to its end.
  class Timer {
   public:
    Timer(Timer&& other) noexcept;
    Timer& operator=(Timer&&) = delete;
    ~Timer();

   private:
    friend class PerformanceMonitor;
    Timer(PerformanceMonitor& monitor, Operation& operation);
    PerformanceMonitor* monitor_;
    Operation* operation_;
    std::chrono::nanoseconds begin_;
  };
  [[nodiscard]] Timer time_operation(std::string_view name);

  // These are false, and add nothing, for a time that is negative or not a number.
  bool log_operation(std::string_view name, double run_s);
  bool log_step_timing(double data_loading_s, double compute_s, std::uint64_t batch_size);

  void count_cache_hits(std::uint64_t num_hits = 1);
  void count_cache_misses(std::uint64_t num_misses = 1);

  void sample_now();
  // A thread takes a reading every `sample_every`; a second start does nothing.
  void start_sampling();
  void stop_sampling();
  bool is_sampling() const;

  LoopFigures figures() const;
  BottleneckAnalysis bottleneck_analysis() const { return analyze(figures()); }
  std::string summary_report() const { return analysis_text(figures()); }
  Json report() const { return analysis_json(figures()); }
  void reset();  // forgets every figure; sampling goes on

 private:
  Operation& operation_named(std::string_view name) STOKER_REQUIRES(mutex_);
  Kept copy_kept() const;

  const MonitorOptions options_;
  const Clock& clock_;

  mutable Mutex mutex_;
  Kept kept_ STOKER_GUARDED_BY(mutex_);

  Mutex gauge_mutex_;  // a reading takes longer than a step may wait
  std::unique_ptr<MachineGauge> gauge_ STOKER_GUARDED_BY(gauge_mutex_);

  // Whole in one place, so that a forked child can leave it alone: to destroy a condition that a
  // thread of the parent waits for would never end.
  struct Sampler {
    pid_t process = 0;
    Mutex mutex;
    ConditionVariable pause;
    Thread thread;  // last: ends first
  };
  void sample_until(Sampler& sampler, const std::stop_token& stop);

  mutable Mutex sampler_mutex_;
  std::unique_ptr<Sampler> sampler_ STOKER_GUARDED_BY(sampler_mutex_);  // last: ends first
};

}  // namespace stoker::observe
