// The driver's own view of how busy a GPU is, second by second, beside what a benchmark measures.
#pragma once

#include <memory>
#include <vector>

#include "stoker/base/thread/sync.h"
#include "stoker/cuda/nvml.h"

namespace stoker::observe {

// Asks once a second, as the driver averages over about that long. Empty without the driver's
// library.
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
