// What a run takes of the machine: the memory of this process, and how busy the driver says a GPU
// is.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/thread/sync.h"
#include "stoker/cuda/nvml.h"

namespace stoker::observe {

struct ProcessMemory {
  std::uint64_t anonymous_bytes = 0;  // RssAnon: heap, stacks, buffers
  std::uint64_t shared_bytes = 0;     // RssShmem: shared memory that is mapped here
  std::uint64_t file_bytes = 0;       // RssFile: pages of the cache's files, dropped when needed

  // What cannot be dropped.
  std::uint64_t held_bytes() const { return anonymous_bytes + shared_bytes; }
};

// All 0 where /proc is not there.
ProcessMemory process_memory(Io& io);

// The share of this process in all pages it maps, in bytes: a page that four map counts a quarter.
std::uint64_t proportional_bytes(Io& io);

// The driver's own view of how busy a GPU is. Asks once a second, as the driver averages over about
// that long. Empty without the driver's library.
class UtilizationLog {
 public:
  explicit UtilizationLog(int device);
  std::vector<double> finish();  // in percent

 private:
  void watch(unsigned device, const std::stop_token& stop);

  std::unique_ptr<cuda::Nvml> nvml_;
  Mutex mutex_;
  ConditionVariable changed_;
  std::vector<double> percent_ STOKER_GUARDED_BY(mutex_);
  Thread thread_;  // last: ends first
};

}  // namespace stoker::observe
