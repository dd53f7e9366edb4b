// Ticks of an axis, and numbers as a chart writes them.
#include "stoker/base/report/svg_canvas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stoker/base/number_text.h"

namespace stoker {
namespace {

double round_step(double rough) {
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double lead = rough / power;
  // The nearest of 1, 2, 5 and 10 by ratio: the bounds are their geometric means.
  if (lead < 1.41) return power;
  if (lead < 3.16) return 2.0 * power;
  return lead < 7.07 ? 5.0 * power : 10.0 * power;
}

// "2 M" rather than "2,000,000".
std::string tick_text(double value, double step) {
  if (step >= 1e6) return figure_text(value / 1e6, 0) + (value == 0.0 ? "" : " M");
  if (step < 1e-6) return fmt::format("{:.3g}", value);
  const double digits = std::ceil(-std::log10(step) - 1e-9);
  return figure_text(value, static_cast<unsigned>(std::clamp(digits, 0.0, 8.0)));
}

std::vector<Tick> linear_ticks(double low, double high, unsigned num_wanted) {
  const double step = round_step((high - low) / std::max(1U, num_wanted));
  std::vector<Tick> ticks;
  const double slack = 1e-9 * step;
  for (double n = std::ceil((low - slack) / step); n * step <= high + slack; n += 1.0)
    ticks.push_back({n * step, tick_text(n * step, step)});
  return ticks;
}

std::vector<Tick> log_ticks(double low, double high, unsigned num_wanted) {
  const double decades = std::log10(high / low);
  const bool dense = decades * 3.0 <= 2.0 * num_wanted;
  const double skip = std::max(1.0, std::ceil(decades / std::max(1U, num_wanted)));
  std::vector<Tick> ticks;
  for (double n = std::floor(std::log10(low)); n <= std::ceil(std::log10(high)); n += skip) {
    for (const double lead : {1.0, 2.0, 5.0}) {
      const double value = lead * std::pow(10.0, n);
      const bool inside = value >= low * (1.0 - 1e-9) && value <= high * (1.0 + 1e-9);
      if (inside && (lead == 1.0 || dense)) ticks.push_back({value, tick_text(value, value)});
    }
  }
  return ticks;
}

}  // namespace

std::string figure_text(double value, unsigned num_decimals) {
  if (!std::isfinite(value)) return "–";
  std::string text = fmt::format("{:.{}f}", std::abs(value), num_decimals);
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string fraction = text.substr(point);
  const bool is_zero = text.find_first_not_of("0.") == std::string::npos;
  std::string whole = text.substr(0, point);
  for (std::size_t at = whole.size(); at > 3;) {
    at -= 3;
    whole.insert(at, ",");
  }
  return (value < 0.0 && !is_zero ? "−" : "") + whole + fraction;
}

std::vector<Tick> chart_ticks(double low, double high, AxisScale scale, unsigned num_wanted) {
  return scale == AxisScale::kLog ? log_ticks(low, high, num_wanted)
                                  : linear_ticks(low, high, num_wanted);
}

}  // namespace stoker
