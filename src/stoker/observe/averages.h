// Averages of what a benchmark measures; nothing measured is 0.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace stoker::observe {

// The upper one of two in the middle.
inline double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

inline double mean_of(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace stoker::observe
