// From the steps of a measured run to its figures: rates, the steadiness of the time between steps,
// and what the same steps take when no loading is part of them.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/feed/batch_counts.h"
#include "stoker/feed/sampling/sampler_settings.h"

namespace stoker::train {

// The shapes of a step's batches, in order: steps of the same shapes do the same work.
using StepShapes = std::vector<feed::BatchShape>;

// Numbers steps by their shapes, from 0 in the order in which they are first seen.
class ShapeNumbers {
 public:
  std::size_t number(const StepShapes& shapes);
  const std::vector<StepShapes>& all() const { return all_; }
  Json json() const;  // "32x640x120" (rows, frames, tokens); several of a step joined by "+"

 private:
  std::vector<StepShapes> all_;
  std::map<std::vector<std::uint32_t>, std::size_t> numbers_;
};

struct MeasuredStep {
  std::size_t shape = 0;    // by ShapeNumbers
  double interval_s = 0;    // from the end of the step before to its own
  double data_s = 0;        // waited for its batches
  double compute_s = 0;     // of the device, without waiting
  bool is_skipped = false;  // its loss was not a number
  feed::BatchCounts counts{};
};

// Steps without a break between them.
struct MeasuredWindow {
  std::vector<MeasuredStep> steps{};
  bool has_device_clock = false;  // intervals are the device's own; else the host's

  double seconds() const;  // all intervals
  feed::BatchCounts counts() const;
  std::vector<double> intervals_s() const;
};

// AU: what the steps of `fed` take with batches that are in memory already, over what they took.
// Only steps whose shapes `resident` has are counted, on both sides.
struct AcceleratorUse {
  double share = 0;
  double error = 0;     // standard error of the share, from how steps of one shape scatter
  double coverage = 0;  // of the fed time, what was compared
};
std::optional<AcceleratorUse> accelerator_use(const MeasuredWindow& fed,
                                              const MeasuredWindow& resident);

// Standard deviation over mean of the intervals, each divided by the median of its shape: longer
// batches take longer.
double shape_cv(const MeasuredWindow& window);

// True frames a second in each of at most `num_blocks` parts of the window with equal numbers of
// steps: what an interval around the mean is made from.
std::vector<double> block_rates(const MeasuredWindow& window, std::size_t num_blocks);

// batches, clips, true_frames, padded_frames, samples_per_s, frames_per_s, padding_share, batch_ms,
// interval_cv, shape_cv, p50_ms, p99_ms, data_ms, compute_ms, stall_share, …
Json window_json(const MeasuredWindow& window);

// Columns, one value a step: interval_ms, shape, data_ms, compute_ms, true_frames.
Json steps_json(const MeasuredWindow& window);

}  // namespace stoker::train
