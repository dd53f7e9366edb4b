// Charts with their tables: as many points as the data have, thinned without losing a peak.
#include "stoker/base/report/figures.h"

#include <gmock/gmock.h>

#include <cmath>
#include <string>
#include <vector>

namespace stoker {
namespace {

using testing::HasSubstr;

std::size_t count_of(const std::string& text, const std::string& wanted) {
  std::size_t count = 0;
  for (std::size_t at = text.find(wanted); at != text.npos; at = text.find(wanted, at + 1)) ++count;
  return count;
}

std::string wide_chart(const std::string& page) {
  const std::size_t begin = page.find(R"(<div class="on-wide">)");
  return page.substr(begin, page.find(R"(<div class="on-narrow">)") - begin);
}

std::string table_of(const std::string& page) {
  const std::size_t begin = page.find("<details>");
  EXPECT_NE(begin, page.npos);
  return page.substr(begin, page.find("</details>") - begin);
}

ChartSeries ramp(std::size_t count, const std::string& name = "ramp") {
  ChartSeries series{.name = name, .x = {}, .y = {}};
  for (std::size_t i = 0; i < count; ++i) {
    series.x.push_back(static_cast<double>(i));
    series.y.push_back(static_cast<double>(i));
  }
  return series;
}

TEST(FiguresTest, ALineHasAPointForEachValueAndARowInItsTable) {
  HtmlReport report("t", "");
  const std::vector series{ramp(25)};
  add_line_figure(report, {.title = "t", .x = {.label = "batch"}}, series, "c");
  const std::string page = report.finish();
  EXPECT_EQ(count_of(wide_chart(page), "<circle"), 25U);
  EXPECT_EQ(count_of(wide_chart(page), "<title>ramp: "), 25U);
  EXPECT_EQ(count_of(table_of(page), "<tr>"), 26U);  // with the header
}

TEST(FiguresTest, ManyPointsAreThinnedInChartAndTable) {
  HtmlReport report("t", "");
  const std::vector series{ramp(1'000'000)};
  add_line_figure(report, {.title = "t"}, series, "c");
  const std::string page = report.finish();
  const std::string chart = wide_chart(page);
  const std::size_t path = chart.find("class=\"line s0\"");
  const std::string line = chart.substr(path, chart.find('>', path) - path);
  EXPECT_LE(count_of(line, "L") + count_of(line, "M"), kMostPoints);
  EXPECT_GE(count_of(line, "L"), kMostPoints / 2);
  EXPECT_EQ(count_of(table_of(page), "<tr>"), kMostRows + 1);
  EXPECT_LT(page.size(), 60'000U);
}

TEST(FiguresTest, ThinningKeepsThePeakAndTheEnds) {
  ChartSeries series = ramp(10'000);
  series.y.assign(series.y.size(), 1.0);
  series.y[4321] = 99.0;
  series.y[4322] = -7.0;
  const ChartSeries few = thinned(series, 100);
  EXPECT_LE(few.x.size(), 100U);
  EXPECT_THAT(few.y, testing::Contains(99.0));
  EXPECT_THAT(few.y, testing::Contains(-7.0));
  EXPECT_TRUE(std::is_sorted(few.x.begin(), few.x.end()));
  EXPECT_EQ(thinned(series, 20'000).x.size(), series.x.size());
}

TEST(FiguresTest, LongLinesHaveTooltipsInColumns) {
  const std::vector series{ramp(500, "interval"), ramp(500, "waiting")};
  const std::string chart = line_chart({.title = "t", .x = {.label = "time (s)"}}, series);
  EXPECT_EQ(count_of(chart, "class=\"hit\""), 60U);
  EXPECT_THAT(chart, HasSubstr("; interval: "));
  EXPECT_THAT(chart, HasSubstr("; waiting: "));
}

TEST(FiguresTest, AreasAddUp) {
  HtmlReport report("t", "");
  ChartSeries flat{.name = "two", .x = {0, 1, 2}, .y = {2, 2, 2}};
  ChartSeries rest{.name = "rest", .x = {0, 1, 2}, .y = {1, 1, 1}};
  const std::vector series{flat, rest};
  add_area_figure(report, {.title = "t", .y = {.high = 3.0}, .height = 200}, series, "",
                  AreaRest::kLastSeries);
  const std::string chart = wide_chart(report.finish());
  EXPECT_EQ(count_of(chart, "class=\"fill area "), 2U);
  EXPECT_EQ(count_of(chart, "class=\"fill area s7\""), 1U);
}

TEST(FiguresTest, AWaterfallBeginsEachBarWhereTheLastEnded) {
  const std::vector<WaterfallStep> steps{{"own", 60}, {"wait", 40}, {"all", 100, true}};
  const std::string chart = waterfall_chart({.title = "t", .x = {.high = 100.0}}, steps);
  std::vector<double> left, width;
  for (std::size_t at = chart.find("<rect class=\"fill"); at != chart.npos;
       at = chart.find("<rect class=\"fill", at + 1)) {
    left.push_back(std::stod(chart.substr(chart.find(" x=\"", at) + 4)));
    width.push_back(std::stod(chart.substr(chart.find(" width=\"", at) + 8)));
  }
  ASSERT_EQ(left.size(), 3U);
  EXPECT_NEAR(left[1], left[0] + width[0], 0.2);
  EXPECT_NEAR(left[2], left[0], 0.2);
  EXPECT_NEAR(width[2], width[0] + width[1], 0.3);
}

TEST(FiguresTest, AHistogramsTableHasItsCounts) {
  HtmlReport report("t", "");
  const std::vector<double> values{0.5, 1.5, 1.6, 99};
  add_histogram_figure(
      report, {.title = "t", .x = {.label = "ms", .low = 0.0, .high = 3.0}, .y = {.label = "n"}},
      values, 3, "");
  const std::string table = table_of(report.finish());
  EXPECT_THAT(table, HasSubstr("<td class=\"n\">0 – 1</td><td class=\"n\">1</td>"));
  EXPECT_THAT(table, HasSubstr("<td class=\"n\">1 – 2</td><td class=\"n\">2</td>"));
  EXPECT_THAT(table, HasSubstr("<td class=\"n\">2 – 3</td><td class=\"n\">1</td>"));
}

TEST(FiguresTest, LanesOfATimelineShareTheirAxis) {
  HtmlReport report("t", "");
  const std::vector<TimelineLane> lanes{{"gpu", {.high = 100.0}, {ramp(40)}},
                                        {"feed", {}, {ramp(80)}}};
  add_timeline_figure(report, {.title = "t", .x = {.label = "time (s)", .low = 0.0, .high = 80.0}},
                      lanes, "");
  const std::string page = report.finish();
  EXPECT_EQ(count_of(wide_chart(page), "<svg"), 2U);
  EXPECT_EQ(count_of(wide_chart(page), ">time (s)</text>"), 1U);
  EXPECT_EQ(count_of(table_of(page), "<tr>"), 1 + 2 * kMostRows);
}

TEST(FiguresTest, LongLabelsStayInsideTheChart) {
  HtmlReport report("t", "");
  const std::vector<std::string> labels{"ویژگی " + std::string(80, 'x'), "short"};
  const std::vector<BarParts> bars{{"", {1, 2}}};
  add_bar_figure(report, {.title = "t", .x = {.label = "times"}, .height = 0}, labels, bars, "");
  const std::string page = report.finish();
  EXPECT_THAT(page, HasSubstr("x…"));
  EXPECT_THAT(table_of(page), HasSubstr(std::string(80, 'x')));
}

TEST(FiguresTest, ASentenceThatBeginsWithAFigureIsNoNumber) {
  HtmlReport report("t", "");
  report.add_table({.header = {"evidence", "time"},
                    .rows = {{"1 worker keeps 0.7 of 2 cores busy", "3 min 20 s"}}});
  EXPECT_THAT(report.finish(), HasSubstr("<td>1 worker keeps 0.7 of 2 cores busy</td>"
                                         "<td class=\"n\">3 min 20 s</td>"));
}

TEST(FiguresTest, APageFromRightToLeftTurnsNoFigureRound) {
  HtmlReport report("گزارش", "x", {.language = "fa", .direction = "rtl"});
  report.add_table({.header = {"الف"}, .rows = {{"12 %"}, {"دسته"}}});
  report.add_code("stoker report run");
  const std::string page = report.finish();
  EXPECT_THAT(page, HasSubstr(R"(<html lang="fa" dir="rtl">)"));
  EXPECT_THAT(page, HasSubstr(R"(<td dir="ltr">12 %</td>)"));
  EXPECT_THAT(page, HasSubstr("<td>دسته</td>"));
  EXPECT_THAT(page, HasSubstr(R"(<pre tabindex="0" dir="ltr">)"));
}

}  // namespace
}  // namespace stoker
