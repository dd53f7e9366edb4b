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

}  // namespace stoker::observe
