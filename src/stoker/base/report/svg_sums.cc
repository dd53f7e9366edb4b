// Charts of parts that add up: areas on top of each other, and waterfalls; and fewer points where
// there are many.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stoker/base/invariant.h"
#include "stoker/base/report/markup.h"
#include "stoker/base/report/svg_layout.h"

namespace stoker {
namespace {

double part_of(double value) { return std::isfinite(value) ? std::max(0.0, value) : 0.0; }

// Sums of the series up to and with each one.
std::vector<std::vector<double>> sums_of(std::span<const ChartSeries> series) {
  std::vector<std::vector<double>> sums;
  std::vector<double> sum(series.front().x.size(), 0.0);
  for (const ChartSeries& one : series) {
    check_invariant(one.x == series.front().x && one.y.size() == one.x.size(),
                    "areas over different x");
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part_of(one.y[i]);
    sums.push_back(sum);
  }
  return sums;
}

std::string area_path(const SvgCanvas& canvas, const std::vector<double>& x,
                      const std::vector<double>& low, const std::vector<double>& high) {
  std::string path;
  for (std::size_t i = 0; i < x.size(); ++i)
    path +=
        fmt::format("{}{:.1f} {:.1f}", i == 0 ? "M" : "L", canvas.x_of(x[i]), canvas.y_of(high[i]));
  for (std::size_t i = x.size(); i-- > 0;)
    path += fmt::format("L{:.1f} {:.1f}", canvas.x_of(x[i]), canvas.y_of(low[i]));
  return path + "Z";
}

struct Falls {
  std::vector<double> begin, end;
  double longest = 0;
};

Falls falls_of(std::span<const WaterfallStep> steps) {
  Falls falls;
  double at = 0;
  for (const WaterfallStep& step : steps) {
    const double begin = step.is_total ? 0.0 : at;
    at = begin + part_of(step.value);
    falls.begin.push_back(begin);
    falls.end.push_back(at);
    falls.longest = std::max(falls.longest, at);
  }
  return falls;
}

}  // namespace

std::string area_chart(const ChartFrame& frame, std::span<const ChartSeries> series,
                       AreaRest rest) {
  if (series.empty() || series.front().x.size() < 2) return empty_chart(frame);
  const std::vector<std::vector<double>> sums = sums_of(series);
  const std::vector<double>& x = series.front().x;
  const double most = *std::max_element(sums.back().begin(), sums.back().end());
  if (!(most > 0.0) || !(x.back() > x.front())) return empty_chart(frame);
  const std::vector<std::string> names = names_of(series);
  SvgCanvas canvas(frame, {.x = {frame.x.low.value_or(x.front()), frame.x.high.value_or(x.back())},
                           .y = {0.0, frame.y.high.value_or(1.04 * most)},
                           .legend = names,
                           .last_is_rest = rest == AreaRest::kLastSeries});
  std::vector<double> below(x.size(), 0.0);
  for (std::size_t i = 0; i < series.size(); ++i) {
    canvas.add(fmt::format(
        R"(<path class="fill area {}" d="{}"><title>{}</title></path>)",
        rest == AreaRest::kLastSeries && i + 1 == series.size() ? kRestClass : series_class(i),
        area_path(canvas, x, below, sums[i]), escape_markup(series[i].name)));
    below = sums[i];
  }
  add_tooltips(canvas, frame, series);
  return canvas.finish();
}

std::string waterfall_chart(const ChartFrame& frame, std::span<const WaterfallStep> steps) {
  const Falls falls = falls_of(steps);
  if (falls.longest <= 0.0) return empty_chart(frame);
  std::vector<std::string> labels;
  for (const WaterfallStep& step : steps) labels.push_back(step.label);
  const BarLayout layout(frame, labels);
  SvgCanvas canvas(layout.frame,
                   layout.options({0.0, frame.x.high.value_or(1.1 * falls.longest)}, {}));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double top = layout.put_label(canvas, i);
    const double left = canvas.x_of(falls.begin[i]), right = canvas.x_of(falls.end[i]);
    canvas.add(fmt::format(
        R"(<rect class="fill {}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="18" rx="2">)"
        "<title>{}: {}</title></rect>",
        steps[i].is_total ? kRestClass : series_class(i % 7), left, top,
        std::max(1.0, right - left), escape_markup(steps[i].label), short_figure(steps[i].value)));
    if (i > 0 && !steps[i].is_total)  // from the end of the bar before
      canvas.add(fmt::format(R"(<path class="a thin" d="M{0:.1f} {1:.1f}V{2:.1f}"/>)", left,
                             top - 8.0, top));
    canvas.add_text(right + 6.0, top + 13.0, "k", short_figure(steps[i].value));
  }
  return canvas.finish();
}

ChartSeries thinned(const ChartSeries& series, std::size_t most_points) {
  check_invariant(most_points >= 2, "a series thinned to nothing");
  const std::size_t count = series.x.size();
  if (count <= most_points) return series;
  ChartSeries out{.name = series.name, .x = {}, .y = {}};
  const std::size_t num_groups = most_points / 2;
  for (std::size_t group = 0; group < num_groups; ++group) {
    const std::size_t first = group * count / num_groups;
    const std::size_t end = (group + 1) * count / num_groups;
    std::size_t low = first, high = first;
    for (std::size_t i = first; i < end; ++i) {
      if (series.y[i] < series.y[low] || !std::isfinite(series.y[low])) low = i;
      if (series.y[i] > series.y[high] || !std::isfinite(series.y[high])) high = i;
    }
    for (const std::size_t i : {std::min(low, high), std::max(low, high)}) {
      if (i == low && i == high && !out.x.empty() && out.x.back() == series.x[i]) continue;
      out.x.push_back(series.x[i]);
      out.y.push_back(series.y[i]);
    }
  }
  return out;
}

}  // namespace stoker
