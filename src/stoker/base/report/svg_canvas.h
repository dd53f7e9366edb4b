// What every chart shares: the frame with axes and legend, the ticks that people would have chosen,
// and where a value is in it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/report/svg.h"

namespace stoker {

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

struct AxisRange {
  double low = 0.0;
  double high = 1.0;
};

// Grows a range by values; the result is never empty or degenerate.
class RangeFinder {
 public:
  explicit RangeFinder(const ChartAxis& axis) : axis_(axis) {}
  void add(double value);
  bool accepts(double value) const;  // finite, and positive on a log axis
  // With a little air around data, or exactly what the axis demands.
  AxisRange range() const;
  double smallest() const { return low_.value_or(0.0); }
  double largest() const { return high_.value_or(0.0); }

 private:
  const ChartAxis& axis_;
  std::optional<double> low_;
  std::optional<double> high_;
};

struct PlotArea {
  double left = 0.0;
  double top = 0.0;
  double width = 0.0;
  double height = 0.0;
  double right() const { return left + width; }
  double bottom() const { return top + height; }
};

struct CanvasOptions {
  AxisRange x{};
  AxisRange y{};
  std::span<const std::string> legend{};  // one name a series; fewer than two draw no legend
  double left_margin = 64.0;
  double right_margin = 20.0;
  bool has_y_ticks = true;
  bool last_is_rest = false;  // the last series is what is left of all: drawn in grey
};

class SvgCanvas {
 public:
  SvgCanvas(const ChartFrame& frame, const CanvasOptions& options);

  const PlotArea& area() const { return area_; }
  double x_of(double value) const;
  double y_of(double value) const;
  double value_at(double x) const;  // the other way round
  // Adds markup on top of what is there.
  void add(std::string_view element) { body_ += element; }
  void add_text(double x, double y, std::string_view css_class, std::string_view text);
  std::string finish() const;

 private:
  // Both return where the next thing below them begins.
  double add_title();
  double add_legend(std::span<const std::string> legend, double top);
  void add_x_axis();
  void add_y_axis();

  const ChartFrame& frame_;
  CanvasOptions options_;
  PlotArea area_;
  std::string body_;
};

// Letters of a text in UTF-8, for an estimate of its width.
std::size_t num_letters(std::string_view text);

// Class of the i-th series: "s0" … "s7", then again; and of what is left.
std::string series_class(std::size_t index);
inline constexpr const char* kRestClass = "s7";

// The frame with "no data" in the middle.
std::string empty_chart(const ChartFrame& frame);

}  // namespace stoker
