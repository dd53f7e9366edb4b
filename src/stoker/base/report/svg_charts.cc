#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stoker/base/invariant.h"
#include "stoker/base/number_text.h"
#include "stoker/base/report/markup.h"
#include "stoker/base/report/svg_canvas.h"
#include "stoker/base/report/svg_layout.h"

namespace stoker {
namespace {

struct Ranges {
  RangeFinder x;
  RangeFinder y;
  bool has_points = false;
};

bool is_drawn(const Ranges& ranges, double x, double y) {
  return ranges.x.accepts(x) && ranges.y.accepts(y);
}

Ranges ranges_of(const ChartFrame& frame, std::span<const ChartSeries> series) {
  Ranges ranges{RangeFinder(frame.x), RangeFinder(frame.y)};
  for (const ChartSeries& one : series) {
    check_invariant(one.x.size() == one.y.size(), "a series with unequal numbers of x and y");
    for (std::size_t i = 0; i < one.x.size(); ++i) {
      if (!is_drawn(ranges, one.x[i], one.y[i])) continue;
      ranges.x.add(one.x[i]);
      ranges.y.add(one.y[i]);
      ranges.has_points = true;
    }
  }
  return ranges;
}

using DrawSeries = void (*)(SvgCanvas&, const Ranges&, const ChartSeries&, const std::string&);

std::string xy_chart(const ChartFrame& frame, std::span<const ChartSeries> series,
                     DrawSeries draw) {
  const Ranges ranges = ranges_of(frame, series);
  if (!ranges.has_points) return empty_chart(frame);
  const std::vector<std::string> names = names_of(series);
  SvgCanvas canvas(frame, {.x = ranges.x.range(), .y = ranges.y.range(), .legend = names});
  for (std::size_t i = 0; i < series.size(); ++i) draw(canvas, ranges, series[i], series_class(i));
  add_tooltips(canvas, frame, series);
  return canvas.finish();
}

void draw_dots(SvgCanvas& canvas, const Ranges& ranges, const ChartSeries& series,
               const std::string& css_class) {
  for (std::size_t i = 0; i < series.x.size(); ++i)
    if (is_drawn(ranges, series.x[i], series.y[i]))
      canvas.add(fmt::format(R"(<circle class="dot {}" cx="{:.1f}" cy="{:.1f}" r="3.5">)"
                             "<title>{}: {}; {}</title></circle>",
                             css_class, canvas.x_of(series.x[i]), canvas.y_of(series.y[i]),
                             escape_markup(series.name), short_figure(series.x[i]),
                             short_figure(series.y[i])));
}

void draw_line(SvgCanvas& canvas, const Ranges& ranges, const ChartSeries& series,
               const std::string& css_class) {
  std::string path;
  bool pen_is_down = false;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const bool drawn = is_drawn(ranges, series.x[i], series.y[i]);
    if (drawn)
      path += fmt::format("{}{:.1f} {:.1f}", pen_is_down ? "L" : "M", canvas.x_of(series.x[i]),
                          canvas.y_of(series.y[i]));
    pen_is_down = drawn;
  }
  canvas.add(fmt::format(R"(<path class="line {}" d="{}"><title>{}</title></path>)", css_class,
                         path, escape_markup(series.name)));
  // Few points are measurements that the reader should see, and a lone one has no line.
  if (series.x.size() <= kFewPoints) draw_dots(canvas, ranges, series, css_class);
}

double longest_sum(std::span<const BarParts> parts, std::size_t num_bars) {
  double longest = 0.0;
  for (std::size_t bar = 0; bar < num_bars; ++bar) {
    double sum = 0.0;
    for (const BarParts& part : parts) {
      check_invariant(part.values.size() == num_bars, "bars and labels differ in number");
      sum += std::isfinite(part.values[bar]) ? std::max(0.0, part.values[bar]) : 0.0;
    }
    longest = std::max(longest, sum);
  }
  return longest;
}

void draw_bar(SvgCanvas& canvas, std::span<const BarParts> parts, std::size_t bar, double top) {
  constexpr double kThickness = 18.0;
  double sum = 0.0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double value = parts[i].values[bar];
    if (!std::isfinite(value) || value <= 0.0) continue;
    const double left = canvas.x_of(sum);
    sum += value;
    canvas.add(fmt::format(
        R"(<rect class="fill {}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.0f}" rx="2">)"
        "<title>{}: {}</title></rect>",
        series_class(i), left, top, canvas.x_of(sum) - left, kThickness,
        escape_markup(parts[i].name), figure_text(value, value < 10.0 ? 2 : 0)));
  }
  canvas.add_text(canvas.x_of(sum) + 6.0, top + 13.0, "k", figure_text(sum, sum < 10.0 ? 2 : 0));
}

}  // namespace

std::string line_chart(const ChartFrame& frame, std::span<const ChartSeries> series) {
  return xy_chart(frame, series, draw_line);
}

std::string scatter_chart(const ChartFrame& frame, std::span<const ChartSeries> series) {
  return xy_chart(frame, series, draw_dots);
}

std::string bar_chart(const ChartFrame& frame, std::span<const std::string> labels,
                      std::span<const BarParts> parts) {
  const double longest = longest_sum(parts, labels.size());
  if (labels.empty() || longest <= 0.0) return empty_chart(frame);
  const BarLayout layout(frame, labels);
  const std::vector<std::string> names = names_of(parts);
  SvgCanvas canvas(layout.frame,
                   layout.options({0.0, frame.x.high.value_or(1.1 * longest)}, names));
  for (std::size_t bar = 0; bar < labels.size(); ++bar)
    draw_bar(canvas, parts, bar, layout.put_label(canvas, bar));
  return canvas.finish();
}

HistogramBins histogram_bins(const ChartAxis& axis, std::span<const double> values,
                             std::size_t num_bins) {
  check_invariant(num_bins > 0, "a histogram without bins");
  RangeFinder x(axis);
  for (const double value : values) x.add(value);
  const AxisRange range{axis.low.value_or(x.smallest()), axis.high.value_or(x.largest())};
  if (!(range.high > range.low) || axis.scale == AxisScale::kLog) return {};
  HistogramBins bins{range.low, (range.high - range.low) / static_cast<double>(num_bins),
                     std::vector<double>(num_bins, 0.0)};
  for (const double value : values) {
    if (!x.accepts(value)) continue;
    const double bin =
        std::clamp((value - bins.low) / bins.width, 0.0, static_cast<double>(num_bins - 1));
    bins.counts[static_cast<std::size_t>(bin)] += 1.0;
  }
  return bins;
}

std::string histogram_chart(const ChartFrame& frame, std::span<const double> values,
                            std::size_t num_bins) {
  const HistogramBins bins = histogram_bins(frame.x, values, num_bins);
  if (bins.counts.empty()) return empty_chart(frame);
  const double most = *std::max_element(bins.counts.begin(), bins.counts.end());
  SvgCanvas canvas(frame, {.x = {bins.low, bins.low + bins.width * static_cast<double>(num_bins)},
                           .y = {0.0, frame.y.high.value_or(1.06 * most)},
                           .legend = {}});
  for (std::size_t i = 0; i < num_bins; ++i) {
    const double low = bins.low + bins.width * static_cast<double>(i);
    const double left = canvas.x_of(low);
    const double top = canvas.y_of(bins.counts[i]);
    canvas.add(
        fmt::format(R"(<rect class="fill s0" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}">)"
                    "<title>{:.4g} – {:.4g}: {}</title></rect>",
                    left + 0.5, top, std::max(0.5, canvas.x_of(low + bins.width) - left - 1.0),
                    canvas.area().bottom() - top, low, low + bins.width,
                    grouped(static_cast<std::uint64_t>(bins.counts[i]))));
  }
  return canvas.finish();
}

}  // namespace stoker
