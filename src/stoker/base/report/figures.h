// Charts with the figures behind them: every chart of a page is there a second time as a table,
// for screen readers, for copying and for who wants the number.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/report/html_report.h"
#include "stoker/base/report/svg.h"

namespace stoker {

// So many points of a series are drawn and so many rows shown at most, whatever there are: a page
// stays small for a run of any length.
inline constexpr std::size_t kMostPoints = 240;
inline constexpr std::size_t kMostRows = 40;

// frame.width is ignored: each chart is drawn for wide and for narrow screens.
void add_line_figure(HtmlReport& page, const ChartFrame& frame, std::span<const ChartSeries> series,
                     std::string_view caption);
void add_area_figure(HtmlReport& page, const ChartFrame& frame, std::span<const ChartSeries> series,
                     std::string_view caption, AreaRest rest = AreaRest::kNone);
void add_bar_figure(HtmlReport& page, const ChartFrame& frame, std::span<const std::string> labels,
                    std::span<const BarParts> parts, std::string_view caption);
void add_histogram_figure(HtmlReport& page, const ChartFrame& frame, std::span<const double> values,
                          std::size_t num_bins, std::string_view caption);
void add_waterfall_figure(HtmlReport& page, const ChartFrame& frame,
                          std::span<const WaterfallStep> steps, std::string_view caption);

// Several charts below each other with one x axis: what happened at the same time is in one line.
struct TimelineLane {
  std::string title;
  ChartAxis y{};
  std::vector<ChartSeries> series;
};
// x of the frame is the axis of all; its y and height are ignored.
void add_timeline_figure(HtmlReport& page, const ChartFrame& frame,
                         std::span<const TimelineLane> lanes, std::string_view caption);

// The table of series: one column each where all have the same x, else one row a point.
ReportTable series_table(const ChartAxis& x, std::span<const ChartSeries> series);

}  // namespace stoker
