// What a view saw in all: the means of its samples, for the report at its end.
#pragma once

#include <cstdint>
#include <map>

#include "stoker/base/json.h"
#include "stoker/observe/live/live_figures.h"
#include "stoker/observe/statistics.h"

namespace stoker::observe {

class LiveMeans {
 public:
  void add(const LiveFigures& figures);
  std::uint64_t num_samples() const { return num_samples_; }
  // cpu_busy_cores, memory_used_share, disk_read_bytes_per_s, gpus[…], feed{…}; null what was
  // never known.
  Json json() const;

 private:
  struct GpuMeans {
    KnownMean utilization, memory_used_bytes, power_w, temp_c;
  };
  std::uint64_t num_samples_ = 0;
  KnownMean busy_cores_, memory_share_, disk_read_, batches_per_s_, clips_per_s_, stall_share_;
  std::map<unsigned, GpuMeans> gpus_;
};

}  // namespace stoker::observe
