#include "stoker/base/report/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "stoker/base/report/heat_map.h"
#include "stoker/base/report/svg_canvas.h"

namespace stoker {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<std::string> texts_of(const std::vector<Tick>& ticks) {
  std::vector<std::string> texts;
  for (const Tick& tick : ticks) texts.push_back(tick.text);
  return texts;
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

struct TickCase {
  double low;
  double high;
  AxisScale scale;
  std::vector<std::string> texts;
};

TEST(ChartTicksTest, AreRoundNumbersWithinTheRange) {
  const TickCase cases[] = {
      {0.0, 10.0, AxisScale::kLinear, {"0", "2", "4", "6", "8", "10"}},
      {0.0, 1.0, AxisScale::kLinear, {"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}},
      {-1.3, 0.4, AxisScale::kLinear, {"−1.0", "−0.5", "0.0"}},
      {0.0, 9'000.0, AxisScale::kLinear, {"0", "2,000", "4,000", "6,000", "8,000"}},
      {0.0, 9e6, AxisScale::kLinear, {"0", "2 M", "4 M", "6 M", "8 M"}},
      {1.0, 10'000.0, AxisScale::kLog, {"1", "10", "100", "1,000", "10,000"}},
      {0.5, 9.0, AxisScale::kLog, {"0.5", "1", "2", "5"}},
  };
  for (const TickCase& row : cases)
    EXPECT_EQ(texts_of(chart_ticks(row.low, row.high, row.scale, 5)), row.texts);
}

TEST(FigureTextTest, GroupsAndSigns) {
  EXPECT_EQ(figure_text(1234567.0, 0), "1,234,567");
  EXPECT_EQ(figure_text(-0.04, 1), "0.0");
  EXPECT_EQ(figure_text(-1234.5, 1), "−1,234.5");
  EXPECT_EQ(figure_text(std::nan(""), 1), "–");
}

TEST(SvgTest, LineChartHasAxesLegendAndOnePathASeries) {
  const ChartSeries series[] = {{"train", {1, 2, 3}, {3, 2, 1}}, {"val", {1, 2, 3}, {4, 3, 2}}};
  const std::string svg =
      line_chart({.title = "Loss", .x = {.label = "epoch"}, .y = {.label = "loss"}}, series);
  EXPECT_THAT(svg, testing::StartsWith("<svg xmlns="));
  EXPECT_THAT(svg, HasSubstr("role=\"img\" aria-label=\"Loss\""));
  EXPECT_EQ(count_of(svg, "class=\"line s"), 2U);
  for (const char* text : {">train<", ">val<", ">epoch<", ">loss<"})
    EXPECT_THAT(svg, HasSubstr(text));
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme:dark"));
}

TEST(SvgTest, PointsThatAreNotNumbersBreakTheLine) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const ChartSeries series[] = {{"a", {0, 1, 2, 3, 4}, {1, 2, nan, 4, 5}}};
  const std::string svg = line_chart({.title = "t"}, series);
  const std::string path = svg.substr(svg.find("class=\"line"), 200);
  EXPECT_EQ(count_of(path.substr(0, path.find("><")), "M"), 2U);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(SvgTest, LogAxisLeavesOutWhatIsNotPositive) {
  const ChartSeries series[] = {{"a", {1, 10, 100}, {0.0, 10, 100}}};
  const std::string svg = scatter_chart({.title = "t", .y = {.scale = AxisScale::kLog}}, series);
  EXPECT_EQ(count_of(svg, "<circle"), 2U);
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
}

TEST(SvgTest, NoDataIsSaid) {
  EXPECT_THAT(line_chart({.title = "t"}, {}), HasSubstr("no data"));
  EXPECT_THAT(histogram_chart({.title = "t"}, {}, 10), HasSubstr("no data"));
  EXPECT_THAT(bar_chart({.title = "t"}, {}, {}), HasSubstr("no data"));
  EXPECT_THAT(heat_map_chart({.title = "t"}, {}), HasSubstr("no data"));
}

TEST(SvgTest, OneValueStillHasARange) {
  const ChartSeries series[] = {{"a", {5}, {7}}};
  const std::string svg = scatter_chart({.title = "t"}, series);
  EXPECT_EQ(count_of(svg, "<circle"), 1U);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(SvgTest, HistogramCountsEveryValueOnce) {
  const std::vector<double> values{0.0, 0.1, 0.9, 1.0, 5.0, 9.99, 10.0};
  const std::string svg = histogram_chart({.title = "t"}, values, 10);
  EXPECT_THAT(svg, HasSubstr("<title>0 – 1: 3</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>9 – 10: 2</title>"));
  EXPECT_EQ(count_of(svg, "<rect"), 10U);
}

TEST(SvgTest, BarsStackTheirParts) {
  const std::vector<std::string> labels{"decode", "mel"};
  const BarParts parts[] = {{"working", {2.0, 5.0}}, {"waiting", {1.0, 0.0}}};
  const std::string svg = bar_chart({.title = "t", .height = 0}, labels, parts);
  EXPECT_EQ(count_of(svg, "<title>working"), 2U);
  EXPECT_EQ(count_of(svg, "<title>waiting"), 1U);
  EXPECT_THAT(svg, HasSubstr(">decode<"));
}

std::vector<double> values_of(const std::string& svg, const std::string& element,
                              const std::string& attribute) {
  std::vector<double> values;
  for (std::size_t at = svg.find("<" + element + " "); at != svg.npos;
       at = svg.find("<" + element + " ", at + 1)) {
    const std::size_t value = svg.find(" " + attribute + "=\"", at);
    values.push_back(std::stod(svg.substr(value + attribute.size() + 3)));
  }
  return values;
}

TEST(SvgTest, LegendAndTitleBreakWhereTheChartIsNarrow) {
  const ChartSeries series[] = {
      {"naive from files", {1}, {1}}, {"native from files", {1}, {2}}, {"cached", {1}, {3}}};
  const ChartFrame wide{.title = "Time from one batch to the next, as the consumer saw it"};
  ChartFrame narrow = wide;
  narrow.width = 340;
  const auto marks = [](const std::string& svg) { return values_of(svg, "rect", "y"); };
  EXPECT_THAT(marks(line_chart(wide, series)), testing::ElementsAre(37, 37, 37));
  EXPECT_THAT(marks(line_chart(narrow, series)), testing::ElementsAre(55, 55, 75));
  EXPECT_EQ(count_of(line_chart(wide, series), "class=\"t\""), 1U);
  EXPECT_EQ(count_of(line_chart(narrow, series), "class=\"t\""), 2U);
}

TEST(SvgTest, LongLabelsGoAboveTheBarsOfANarrowChart) {
  const std::vector<std::string> labels{"native from a cache in memory"};
  const BarParts parts[] = {{"clips", {5.0}}};
  const auto start_of_bar = [&](unsigned width) {
    const ChartFrame frame{.title = "t", .width = width, .height = 0};
    return values_of(bar_chart(frame, labels, parts), "rect", "x").at(0);
  };
  EXPECT_GT(start_of_bar(720), 200.0);
  EXPECT_LT(start_of_bar(340), 40.0);
}

TEST(SvgTest, HeatMapEmbedsAPicture) {
  const std::vector<float> values{0.0F, 1.0F, 2.0F, 3.0F, 4.0F, 5.0F};
  const std::string svg =
      heat_map_chart({.title = "mel"}, {.num_columns = 3, .num_rows = 2, .values = values});
  EXPECT_EQ(count_of(svg, "href=\"data:image/png;base64,"), 2U);
}

TEST(SvgTest, HostileNamesAreEscaped) {
  const ChartSeries series[] = {{"<script>", {1}, {1}}, {"b\"", {1}, {1}}};
  const std::string svg = line_chart({.title = "</svg>"}, series);
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  EXPECT_EQ(count_of(svg, "</svg>"), 1U);
}

}  // namespace
}  // namespace stoker
