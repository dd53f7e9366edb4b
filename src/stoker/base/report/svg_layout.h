// What several kinds of charts share beyond the canvas: names, room for the labels of bars,
// tooltips over lines and areas.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "stoker/base/report/svg_canvas.h"

namespace stoker {

// A line with at most so many points shows each of them.
inline constexpr std::size_t kFewPoints = 30;

template <class Named>
std::vector<std::string> names_of(std::span<const Named> all) {
  std::vector<std::string> names;
  for (const Named& one : all) names.push_back(one.name);
  return names;
}

// "1,204", "12.5", "0.0031": four digits, or all before the point.
std::string short_figure(double value);

// Room for horizontal bars with their labels: beside them, or above where they would take the bars
// their room.
struct BarLayout {
  BarLayout(const ChartFrame& given, std::span<const std::string> given_labels);

  CanvasOptions options(const AxisRange& x, std::span<const std::string> legend) const;
  // Writes the label of a bar, and returns the top of the bar.
  double put_label(SvgCanvas& canvas, std::size_t bar) const;

  ChartFrame frame;  // its height is set
  std::span<const std::string> labels;
  double beside = 0;
  bool is_above = false;
};

// Columns that show the figures below the pointer; none where every point has its own.
void add_tooltips(SvgCanvas& canvas, const ChartFrame& frame, std::span<const ChartSeries> series);

}  // namespace stoker
