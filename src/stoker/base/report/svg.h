// Small charts as SVG text: readable on light and dark pages, in colour-blind eyes and by screen
// readers.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stoker {

enum class AxisScale { kLinear, kLog };

struct ChartAxis {
  std::string label{};  // with its unit: "time (s)"
  AxisScale scale = AxisScale::kLinear;
  std::optional<double> low{};  // absent: from the data
  std::optional<double> high{};
};

struct ChartFrame {
  std::string title{};
  std::string
      description{};  // what a screen reader says after the title: the finding in a sentence
  ChartAxis x{};
  ChartAxis y{};
  bool shows_title = true;  // false: a heading beside the chart says it already
  unsigned width = 720;
  unsigned height = 360;
};

// Points that are not finite (or not positive on a log axis) are left out and break a line there.
struct ChartSeries {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;
};

// Each function returns one <svg> element with its own style: a file by itself or a part of HTML.
// Data that hold no point give a frame that says "no data".
std::string line_chart(const ChartFrame& frame, std::span<const ChartSeries> series);
std::string scatter_chart(const ChartFrame& frame, std::span<const ChartSeries> series);

// One bar a label, its parts stacked: parts[i].values[k] belongs to labels[k].
struct BarParts {
  std::string name;
  std::vector<double> values;
};
// Bars are horizontal, so that long labels can be read; frame.height 0 = as many bars need.
std::string bar_chart(const ChartFrame& frame, std::span<const std::string> labels,
                      std::span<const BarParts> parts);

// A sum and what it is made of: each bar begins where the one before it ended; a total begins at 0.
struct WaterfallStep {
  std::string label;
  double value = 0;
  bool is_total = false;
};
std::string waterfall_chart(const ChartFrame& frame, std::span<const WaterfallStep> steps);

// Series on top of each other, the first at the bottom. Precondition: all have the same x.
enum class AreaRest { kNone, kLastSeries };  // the last one is what is left of all, in grey
std::string area_chart(const ChartFrame& frame, std::span<const ChartSeries> series,
                       AreaRest rest = AreaRest::kNone);

// The counts that a histogram shows; values past the axis' ends are counted in the outermost bins.
struct HistogramBins {
  double low = 0;
  double width = 0;  // 0: nothing to count
  std::vector<double> counts;
};
HistogramBins histogram_bins(const ChartAxis& axis, std::span<const double> values,
                             std::size_t num_bins);

// At most `most_points` of a series: neighbours are joined, and of each group the lowest and the
// highest point stay, so that no peak is lost however long the series is.
ChartSeries thinned(const ChartSeries& series, std::size_t most_points);

// How many values fall into each of `num_bins` equal ranges; values past the axis' ends are counted
// in the outermost bins.
std::string histogram_chart(const ChartFrame& frame, std::span<const double> values,
                            std::size_t num_bins);

}  // namespace stoker
