// The GPU's own clock, and the spans of a step by it.
#pragma once

#include <cstdint>

#include "stoker/train/loop/device/step_ledger.h"

namespace stoker::train {

__device__ inline std::uint64_t device_time_ns() {
  std::uint64_t time_ns = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time_ns));
  return time_ns;
}

__device__ inline void open_span(StepLedger& ledger) {
  ledger.span_ns = device_time_ns();
  if (ledger.began_ns == 0) ledger.began_ns = ledger.span_ns;
}

// Returns the time.
__device__ inline std::uint64_t close_span(StepLedger& ledger) {
  const std::uint64_t now_ns = device_time_ns();
  ledger.busy_ns += now_ns - ledger.span_ns;
  return now_ns;
}

}  // namespace stoker::train
