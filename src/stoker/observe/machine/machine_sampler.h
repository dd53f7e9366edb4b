// Watches the machine on one thread of its own, so that whoever asks why a run was slow can ask
// what else went on meanwhile.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/io/io.h"
#include "stoker/base/thread/sync.h"
#include "stoker/observe/machine/gpu_gauge.h"
#include "stoker/observe/machine/machine_sample.h"
#include "stoker/observe/machine/machine_window.h"

namespace stoker::observe {

// Where the figures come from. Tests plant a `root` of their own instead of "/", and a gauge.
struct MachineSources {
  Io* io = &system_io();
  std::string root{};
  std::string data_path{};                // file or folder; empty: storage is not looked at
  std::vector<std::string> data_files{};  // whose pages in memory are counted
  GpuGauge gauge{.why_none = "no GPU is used"};
};

struct MachineSamplerOptions {
  std::chrono::nanoseconds every = std::chrono::milliseconds(100);  // of a GPU
  unsigned dear_every =
      10;  // one in so many samples has all the rest; there are no others without a GPU
  std::chrono::nanoseconds keep = std::chrono::minutes(10);
  const Clock* clock = &system_clock();
};

// Samples from construction to destruction; memory is bounded by `keep`. What cannot be read is
// absent in the window and ends nothing. Thread-safe.
class MachineSampler {
 public:
  static constexpr const char* kThreadName = "machine-sampler";

  explicit MachineSampler(MachineSources sources, const MachineSamplerOptions& options = {});
  ~MachineSampler();
  MachineSampler(const MachineSampler&) = delete;
  MachineSampler& operator=(const MachineSampler&) = delete;

  // Takes a whole sample now, on the caller's thread, so that a window can begin or end here. May
  // take 40 ms where a GPU is watched. Returns the moment.
  std::chrono::nanoseconds mark();

  // What happened between two moments of the clock, by the samples nearest to them; figures are
  // absent where no two samples are apart.
  MachineWindow window(std::chrono::nanoseconds from, std::chrono::nanoseconds to) const;

 private:
  class Reader;
  void watch(const std::stop_token& stop);
  std::chrono::nanoseconds take(bool is_dear);

  MachineSamplerOptions options_;
  std::unique_ptr<Reader> reader_;
  mutable Mutex mutex_;
  ConditionVariable ended_;
  std::deque<MachineSample> samples_ STOKER_GUARDED_BY(mutex_);
  Thread thread_;  // last: ends first
};

}  // namespace stoker::observe
