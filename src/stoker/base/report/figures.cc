#include "stoker/base/report/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stoker/base/report/svg_layout.h"

namespace stoker {
namespace {

std::vector<ChartSeries> all_thinned(std::span<const ChartSeries> series) {
  std::vector<ChartSeries> out;
  for (const ChartSeries& one : series) out.push_back(thinned(one, kMostPoints));
  return out;
}

// Indices of at most kMostRows of `count`, evenly, the first and the last among them.
std::vector<std::size_t> chosen_rows(std::size_t count) {
  std::vector<std::size_t> rows;
  const std::size_t wanted = std::min(count, kMostRows);
  for (std::size_t i = 0; i < wanted; ++i)
    rows.push_back(wanted == 1 ? 0 : i * (count - 1) / (wanted - 1));
  return rows;
}

bool have_same_x(std::span<const ChartSeries> series) {
  return std::all_of(series.begin(), series.end(), [&](const ChartSeries& one) {
    return one.x == series.front().x && one.y.size() == one.x.size();
  });
}

ReportTable wide_table(const ChartAxis& x, std::span<const ChartSeries> series) {
  ReportTable table{.header = {x.label}};
  for (const ChartSeries& one : series) table.header.push_back(one.name);
  for (const std::size_t i : chosen_rows(series.front().x.size())) {
    std::vector<std::string> row{short_figure(series.front().x[i])};
    for (const ChartSeries& one : series) row.push_back(short_figure(one.y[i]));
    table.rows.push_back(std::move(row));
  }
  return table;
}

ReportTable long_table(const ChartAxis& x, std::span<const ChartSeries> series) {
  ReportTable table{.header = {"", x.label, ""}};
  for (const ChartSeries& one : series)
    for (const std::size_t i : chosen_rows(one.x.size()))
      table.rows.push_back({one.name, short_figure(one.x[i]), short_figure(one.y[i])});
  return table;
}

ChartFrame sized(const ChartFrame& frame, unsigned width) {
  ChartFrame out = frame;
  out.width = width;
  return out;
}

std::string lanes_chart(const ChartFrame& frame, std::span<const TimelineLane> lanes) {
  constexpr unsigned kLaneHeight = 150, kLabelHeight = 22, kLegendHeight = 24;
  std::string charts;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const bool is_last = i + 1 == lanes.size();
    ChartFrame lane = frame;
    lane.title = lanes[i].title;
    lane.description = frame.title;
    lane.y = lanes[i].y;
    lane.height = kLaneHeight + (is_last ? kLabelHeight : 0) +
                  (lanes[i].series.size() > 1 ? kLegendHeight : 0);
    if (!is_last) lane.x.label.clear();
    charts += line_chart(lane, lanes[i].series);
  }
  return charts;
}

}  // namespace

ReportTable series_table(const ChartAxis& x, std::span<const ChartSeries> series) {
  if (series.empty()) return {.header = {x.label}};
  return have_same_x(series) ? wide_table(x, series) : long_table(x, series);
}

void add_line_figure(HtmlReport& page, const ChartFrame& frame, std::span<const ChartSeries> series,
                     std::string_view caption) {
  const std::vector<ChartSeries> drawn = all_thinned(series);
  page.add_chart([&](unsigned width) { return line_chart(sized(frame, width), drawn); }, caption,
                 series_table(frame.x, series));
}

void add_area_figure(HtmlReport& page, const ChartFrame& frame, std::span<const ChartSeries> series,
                     std::string_view caption, AreaRest rest) {
  page.add_chart([&](unsigned width) { return area_chart(sized(frame, width), series, rest); },
                 caption, series_table(frame.x, series));
}

void add_bar_figure(HtmlReport& page, const ChartFrame& frame, std::span<const std::string> labels,
                    std::span<const BarParts> parts, std::string_view caption) {
  ReportTable table{.header = {frame.y.label}};
  for (const BarParts& part : parts)
    table.header.push_back(part.name.empty() ? frame.x.label : part.name);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    std::vector<std::string> row{labels[i]};
    for (const BarParts& part : parts) row.push_back(short_figure(part.values[i]));
    table.rows.push_back(std::move(row));
  }
  ChartFrame drawn = frame;
  drawn.y.label.clear();  // the labels of the bars say it
  page.add_chart([&](unsigned width) { return bar_chart(sized(drawn, width), labels, parts); },
                 caption, table);
}

void add_histogram_figure(HtmlReport& page, const ChartFrame& frame, std::span<const double> values,
                          std::size_t num_bins, std::string_view caption) {
  const HistogramBins bins = histogram_bins(frame.x, values, num_bins);
  ReportTable table{.header = {frame.x.label, frame.y.label}};
  for (std::size_t i = 0; i < bins.counts.size(); ++i) {
    const double low = bins.low + bins.width * static_cast<double>(i);
    table.rows.push_back({fmt::format("{} – {}", short_figure(low), short_figure(low + bins.width)),
                          figure_text(bins.counts[i], 0)});
  }
  page.add_chart(
      [&](unsigned width) { return histogram_chart(sized(frame, width), values, num_bins); },
      caption, table);
}

void add_waterfall_figure(HtmlReport& page, const ChartFrame& frame,
                          std::span<const WaterfallStep> steps, std::string_view caption) {
  ReportTable table{.header = {"", frame.x.label}};
  for (const WaterfallStep& step : steps)
    table.rows.push_back({step.label, short_figure(step.value)});
  page.add_chart([&](unsigned width) { return waterfall_chart(sized(frame, width), steps); },
                 caption, table);
}

void add_timeline_figure(HtmlReport& page, const ChartFrame& frame,
                         std::span<const TimelineLane> lanes, std::string_view caption) {
  std::vector<TimelineLane> drawn(lanes.begin(), lanes.end());
  std::vector<ChartSeries> all;
  for (TimelineLane& lane : drawn) {
    for (const ChartSeries& one : lane.series) {
      all.push_back(one);
      if (lane.series.size() == 1) all.back().name = lane.title;
    }
    lane.series = all_thinned(lane.series);
  }
  page.add_chart([&](unsigned width) { return lanes_chart(sized(frame, width), drawn); }, caption,
                 series_table(frame.x, all));
}

}  // namespace stoker
