#include "stoker/base/report/html_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "stoker/base/bytes.h"
#include "stoker/base/report/svg.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker {
namespace {

using testing::HasSubstr;
using testing::Not;

HtmlReport small_report() {
  HtmlReport report("Build <of> cache", "LJ & friends");
  report.open_section("Figures");
  const KeyFigure figures[] = {{"speed", "7,180", "target 6,500", Verdict::kGood},
                               {"rejects", "3", "", Verdict::kBad}};
  report.add_key_figures(figures);
  report.open_section("Tables");
  report.add_table({.caption = "Rows", .header = {"id", "frames"}, .rows = {{"a<b", "566"}}});
  report.add_code("stoker build\nstoker verify");
  const auto draw = [](unsigned width) {
    const ChartSeries series[] = {{"a", {1, 2}, {1, 2}}};
    return line_chart({.title = "t", .width = width}, series);
  };
  report.add_chart(draw, "how it went");
  report.add_sound(view_bytes("RIFF"), "a clip");
  report.add_sound(view_bytes("fLaC"), "a packed clip");
  return report;
}

TEST(HtmlReportTest, HoldsEverythingInOneFile) {
  const std::string page = small_report().finish();
  EXPECT_THAT(page, HasSubstr("Build &lt;of&gt; cache"));
  EXPECT_THAT(page, HasSubstr("src=\"data:audio/wav;base64,UklGRg==\""));
  EXPECT_THAT(page, HasSubstr("src=\"data:audio/flac;base64,ZkxhQw==\""));
  EXPECT_THAT(page, HasSubstr("<td>a&lt;b</td><td class=\"n\">566</td>"));
  EXPECT_THAT(page, HasSubstr("stoker build\nstoker verify\n"));
}

TEST(HtmlReportTest, AsksForNothingFromOutside) {
  std::string page = small_report().finish();
  const std::string name_space = "http://www.w3.org/2000/svg";
  while (page.find(name_space) != page.npos) page.erase(page.find(name_space), name_space.size());
  EXPECT_THAT(page, Not(HasSubstr("http://")));
  EXPECT_THAT(page, Not(HasSubstr("https://")));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
}

// A phone is 390 pixels wide, of which margins and borders leave 348: a chart of at most that width
// keeps its letters of 12 pixels.
TEST(HtmlReportTest, PhonesGetAChartOfTheirOwnWidth) {
  const std::string page = small_report().finish();
  EXPECT_THAT(page, HasSubstr(R"(<div class="on-wide"><svg)"));
  EXPECT_THAT(page, HasSubstr(R"(viewBox="0 0 840 360")"));
  const std::string narrow = page.substr(page.find(R"(<div class="on-narrow"><svg)"));
  EXPECT_THAT(narrow, HasSubstr(R"(viewBox="0 0 340 360" width="340")"));
  EXPECT_THAT(page, HasSubstr("@media(max-width:46rem){.on-wide{display:none}"));
}

// Eight columns with headings of several words fit into a page of 1,100 pixels only when headings
// may break into lines.
TEST(HtmlReportTest, HeadingsOfATableMayBreak) {
  const std::string page = small_report().finish();
  const std::size_t rule = page.find("thead th{");
  ASSERT_NE(rule, page.npos);
  EXPECT_THAT(page.substr(rule, page.find('}', rule) - rule), Not(HasSubstr("nowrap")));
  const std::size_t numbers = page.find("\n.n{");
  ASSERT_NE(numbers, page.npos);
  EXPECT_THAT(page.substr(numbers, page.find('}', numbers) - numbers), Not(HasSubstr("nowrap")));
}

TEST(HtmlReportTest, OnlyColumnsOfNumbersStandToTheRight) {
  HtmlReport report("t", "");
  report.add_table({.header = {"mixed", "gaps"}, .rows = {{"12", "1"}, {"few", ""}}});
  EXPECT_THAT(report.finish(), HasSubstr("<td>12</td><td class=\"n\">1</td>"));
}

TEST(HtmlReportTest, SectionsAreLinkedAndNamed) {
  const std::string page = small_report().finish();
  EXPECT_THAT(page, HasSubstr("<a href=\"#s0\">Figures</a>"));
  EXPECT_THAT(page, HasSubstr("<h2 id=\"s1\">Tables</h2>"));
  EXPECT_THAT(page, HasSubstr("aria-label=\"missed\""));
}

TEST(HtmlReportTest, TagsAreBalanced) {
  const ScratchFolder scratch;
  scratch.put("report.html", small_report().finish());
  const std::string command = "python3 " + std::string(STOKER_TEST_SOURCES) +
                              "/report/check_html.py " + (scratch / "report.html");
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST(HtmlReportDeathTest, RowsMustBeAsWideAsTheHeader) {
  HtmlReport report("t", "");
  EXPECT_DEATH(report.add_table({.caption = "", .header = {"a", "b"}, .rows = {{"1"}}}), "width");
}

}  // namespace
}  // namespace stoker
