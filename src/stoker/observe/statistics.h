// The figures that reports make of many measurements: averages, and what the time between batches
// looks like from the consumer's side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

namespace stoker::observe {

// The upper one of two in the middle; 0 of nothing.
inline double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Where the median is in 95 of 100 cases, by the order of the values alone: whatever their
// distribution. All that was found where there are few; 0 of nothing.
struct MedianRange {
  double low = 0;
  double high = 0;
};
MedianRange median_range(std::vector<double> values);

inline double mean_of(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Mean of what is known; nothing where nothing is.
class KnownMean {
 public:
  template <class T>
  void add(const std::optional<T>& value) {
    if (!value) return;
    sum_ += static_cast<double>(*value);
    ++count_;
  }
  std::optional<double> value() const {
    return count_ == 0 ? std::nullopt : std::optional(sum_ / count_);
  }

 private:
  double sum_ = 0;
  unsigned count_ = 0;
};

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

// The lag, from 2 to 19, at which the values repeat themselves most; 0 where they do not. A lag
// counts from an autocorrelation of 0.3, and of more where so few values reach 0.3 by chance.
std::size_t cyclic_lag(std::span<const double> values);

// The last `capacity` of many values, and the sum of all. Adding allocates nothing.
class RecentValues {
 public:
  explicit RecentValues(std::size_t capacity) : ring_(std::max<std::size_t>(capacity, 1)) {}

  void add(double value) {
    ring_[static_cast<std::size_t>(num_added_ % ring_.size())] = value;
    sum_ += value;
    ++num_added_;
  }
  void clear() {
    num_added_ = 0;
    sum_ = 0;
  }
  std::uint64_t num_added() const { return num_added_; }
  double sum() const { return sum_; }
  std::vector<double> in_order() const;  // what the ring holds, oldest first

 private:
  std::vector<double> ring_;
  std::uint64_t num_added_ = 0;
  double sum_ = 0;
};

}  // namespace stoker::observe
