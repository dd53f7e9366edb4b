// What a GPU's steps leave in device memory for each other: sums of losses, the step's number and
// times, so that no kernel needs a word from the host but what it was launched with.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/cuda/stream.h"

namespace stoker::train {

// Of the batches since the last update: each loss times its frames, then the frames.
inline constexpr std::size_t kNumLosses = 4;
inline constexpr std::size_t kNumSums = kNumLosses + 1;

// In device memory. Times are those of the GPU's own clock.
struct StepLedger {
  double sums[kNumSums];
  std::uint64_t step;      // of the batch that is computed
  std::uint64_t began_ns;  // the first batch since the last update; 0: there is none
  std::uint64_t span_ns;   // when what runs now began
  std::uint64_t busy_ns;   // of what ended since the last update
};

// Scalars f32 on the device: duration, prior, flow, alignment, frames.
struct LossPointers {
  const float* values[kNumSums];
};

// Begins a span of work; the one before must have ended. Asynchronous; throw GpuError.
void begin_span(StepLedger* ledger, cuda::StreamView stream);
// Adds a batch's losses, weighed by its frames, and ends the span.
void add_figures(const LossPointers& losses, StepLedger* ledger, cuda::StreamView stream);

}  // namespace stoker::train
