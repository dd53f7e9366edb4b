// What the time between batches looks like from the consumer's side: the figures every report
// gives.
#pragma once

#include <cstddef>
#include <span>

namespace stoker::observe {

// Of the intervals between consecutive batches, in milliseconds. All 0 without an interval.
struct IntervalStatistics {
  std::size_t num_intervals = 0;
  double mean_ms = 0;
  double std_ms = 0;
  double min_ms = 0;
  double max_ms = 0;
  double p50_ms = 0;
  double p99_ms = 0;

  // Standard deviation over mean: 0 is a metronome.
  double cv() const { return mean_ms > 0 ? std_ms / mean_ms : 0.0; }
  double p99_over_p50() const { return p50_ms > 0 ? p99_ms / p50_ms : 0.0; }
};

IntervalStatistics summarize_intervals(std::span<const double> intervals_s);

}  // namespace stoker::observe
