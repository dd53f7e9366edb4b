// Where an axis is marked, and with what text: round numbers that people would have chosen.
#pragma once

#include <string>
#include <vector>

namespace stoker {

enum class AxisScale { kLinear, kLog };

struct Tick {
  double value;
  std::string text;
};

// About `num_wanted` round values within [low, high]; steps are 1, 2 or 5 times a power of ten, on
// a log axis the powers of ten (with 2 and 5 where there is room).
// Precondition: low < high, finite; on a log axis low > 0.
std::vector<Tick> chart_ticks(double low, double high, AxisScale scale, unsigned num_wanted);

// The number as a tick or a table shows it: thousands grouped, no more than `num_decimals`.
std::string figure_text(double value, unsigned num_decimals);

}  // namespace stoker
