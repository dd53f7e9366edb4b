#include "stoker/observe/statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace stoker::observe {
namespace {

constexpr double kMsPerSecond = 1e3;

// Nearest rank: a value that really occurred.
double quantile(const std::vector<double>& sorted, double share) {
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

}  // namespace

MedianRange median_range(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  constexpr double kDeviations = 1.96;
  // How many of them are below the median is a binomial number.
  const double rank = std::floor((count - kDeviations * std::sqrt(count)) / 2);
  const auto first = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  return {.low = values[first], .high = values[values.size() - 1 - first]};
}

IntervalStatistics summarize_intervals(std::span<const double> intervals_s) {
  IntervalStatistics out;
  out.num_intervals = intervals_s.size();
  if (intervals_s.empty()) return out;
  std::vector<double> sorted(intervals_s.begin(), intervals_s.end());
  std::sort(sorted.begin(), sorted.end());
  const auto count = static_cast<double>(sorted.size());
  double sum = 0;
  for (const double value : sorted) sum += value;
  const double mean = sum / count;
  double squares = 0;
  for (const double value : sorted) squares += (value - mean) * (value - mean);
  out.mean_ms = mean * kMsPerSecond;
  out.std_ms = std::sqrt(squares / count) * kMsPerSecond;
  out.min_ms = sorted.front() * kMsPerSecond;
  out.max_ms = sorted.back() * kMsPerSecond;
  out.p50_ms = quantile(sorted, 0.50) * kMsPerSecond;
  out.p99_ms = quantile(sorted, 0.99) * kMsPerSecond;
  return out;
}

std::size_t cyclic_lag(std::span<const double> values) {
  constexpr std::size_t kLeastLag = 2, kMostLag = 19;
  constexpr double kLeastCorrelation = 0.3, kDeviations = 4;
  if (values.size() < 2 * kMostLag) return 0;
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  if (squares <= 0) return 0;
  double best = std::max(kLeastCorrelation, kDeviations / std::sqrt(count));
  std::size_t best_lag = 0;
  for (std::size_t lag = kLeastLag; lag <= kMostLag; ++lag) {
    double products = 0;
    for (std::size_t i = lag; i < values.size(); ++i)
      products += (values[i] - mean) * (values[i - lag] - mean);
    if (products / squares <= best) continue;
    best = products / squares;
    best_lag = lag;
  }
  return best_lag;
}

std::vector<double> RecentValues::in_order() const {
  const auto held = static_cast<std::size_t>(std::min<std::uint64_t>(num_added_, ring_.size()));
  const std::size_t first = held < ring_.size() ? 0 : num_added_ % ring_.size();
  std::vector<double> values(held);
  for (std::size_t i = 0; i < held; ++i) values[i] = ring_[(first + i) % ring_.size()];
  return values;
}

}  // namespace stoker::observe
