// The page of a run: its sections, the points of its charts, its size, both languages, and texts
// that would like to be markup.
#include "stoker/observe/report/run_page.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <regex>
#include <string>

#include "planted_run.h"

namespace stoker::observe {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t count_of(const std::string& text, const std::string& wanted) {
  std::size_t count = 0;
  for (std::size_t at = text.find(wanted); at != text.npos; at = text.find(wanted, at + 1)) ++count;
  return count;
}

// A starved feed with a slow file and an applied cure, and all else that a page can show.
RunStory full_story() {
  PlantedRun run{.num_workers = 1};
  run.change = [](std::size_t i, PlantedBatch& batch) {
    batch.shape = static_cast<std::uint32_t>(i % 5);
    batch.padded_frames = 8200 + 400 * batch.shape;
    batch.step_s = 2e-3;
    batch.works_s[0] = 0.3e-3;
    if (i != 120) return;
    batch.cpu(feed::RecordStage::kDecode) += 0.3;
    batch.slowest_s = 0.3;
    batch.slowest_file = "wavs/<slow>&\".flac";
    batch.slowest_stage = feed::RecordStage::kDecode;
  };
  Evidence evidence = plant(run);
  evidence.setup.data = "voice";
  RunStory story = story_of({evidence, judge(evidence)});
  story.status = RunStatus::kFinished;
  if (!story.watched->diagnosis.cures.empty())
    story.watched->diagnosis.cures.front().measured_gain = 1.9;
  story.metrics = FigureColumns({"loss", "flow", "prior", "duration", "step_ms", "data_ms"});
  story.machine = FigureColumns({"gpu_percent", "own_cores", "other_cores"});
  for (int i = 0; i < 20; ++i) {
    story.metrics.add(i, std::vector<std::optional<double>>{5.0 - 0.1 * i, 2, 1, 1, 20, 1});
    story.machine.add(1.0 + 0.05 * i, std::vector<std::optional<double>>{60.0 + i, 1.5, 0.2});
  }
  story.sounds.push_back({"step-00000003-1.wav", {std::byte{'R'}}});
  story.settings.push_back({"data.batch_size", "7", "32"});
  story.rejects.push_back({"<script>alert(1)</script>.wav", "E-WAV-TRUNC", "expected a, found b"});
  story.num_rejects = 1;
  story.missing.push_back({"machine.jsonl"});
  return story;
}

bool is_valid(const std::string& page) {
  const ScratchFolder scratch;
  scratch.put("report.html", page);
  const std::string command = "python3 " + std::string(STOKER_SOURCE_DIR) +
                              "/tests/base/report/check_html.py " + (scratch / "report.html");
  return std::system(command.c_str()) == 0;
}

TEST(RunPageTest, SectionsComeInTheirOrderVerdictFirst) {
  const std::string page = run_page(full_story(), ReportLanguage::kEnglish);
  std::size_t at = 0;
  for (const char* heading :
       {"Verdict", "GPU, feed and consumer over time", "Time between batches",
        "Where the consumer&#39;s time goes", "What the workers do", "Padding by bucket",
        "Longest gaps", "Causes", "Cures", "Before and after", "Loss and spoken samples",
        "Settings that differ from the default", "Machine", "Rejects", "Not in this report"}) {
    const std::size_t found = page.find(std::string("\">") + heading + "</h2>", at);
    ASSERT_NE(found, page.npos) << heading;
    at = found;
  }
  EXPECT_TRUE(is_valid(page));
}

TEST(RunPageTest, EveryChartHasItsTable) {
  for (const ReportLanguage language : {ReportLanguage::kEnglish, ReportLanguage::kPersian}) {
    const std::string page = run_page(full_story(), language);
    const std::size_t num_charts = count_of(page, R"(<div class="on-wide">)");
    EXPECT_EQ(num_charts, 9U);
    EXPECT_EQ(count_of(page, "<details>"), num_charts);
  }
}

std::string section_of(const std::string& page, const std::string& heading) {
  const std::size_t begin = page.find("\">" + heading + "</h2>");
  EXPECT_NE(begin, page.npos) << heading;
  return page.substr(begin, page.find("</section>", begin) - begin);
}

TEST(RunPageTest, ChartsHaveThePointsOfTheData) {
  const RunStory story = full_story();
  const std::string page = run_page(story, ReportLanguage::kEnglish);
  // 20 lines of metrics: four lines of 20 points each, in both widths.
  EXPECT_EQ(count_of(section_of(page, "Loss and spoken samples"), "<circle"), 2U * 4 * 20);
  // Five shapes, of speech and padding.
  EXPECT_EQ(count_of(section_of(page, "Padding by bucket"), "<rect class=\"fill s"), 2U * 2 * 5);
  // All intervals are counted: 240 batches have 239.
  const std::string intervals = section_of(page, "Time between batches");
  std::size_t sum = 0;
  const std::regex row("</td><td class=\"n\">(\\d+)</td></tr>");
  for (std::sregex_iterator each(intervals.begin(), intervals.end(), row), end; each != end; ++each)
    sum += std::stoul((*each)[1].str());
  EXPECT_EQ(sum, 239U);
  // The waterfall ends at all of the time.
  EXPECT_THAT(section_of(page, "Where the consumer&#39;s time goes"),
              HasSubstr("<td>all</td><td class=\"n\">100</td>"));
  EXPECT_EQ(count_of(section_of(page, "Causes"), "<tr>"),
            1 + story.watched->diagnosis.causes.size());
}

TEST(RunPageTest, TextsOfOthersAreNeverMarkup) {
  const std::string page = run_page(full_story(), ReportLanguage::kEnglish);
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("<slow>")));
  EXPECT_THAT(page, HasSubstr("wavs/&lt;slow&gt;&amp;&quot;.flac"));
  RunStory hostile = full_story();
  hostile.subject = "run\"><script>\x01\xff";
  hostile.sounds.front().file = "\"><img src=x onerror=y>.wav";
  EXPECT_THAT(run_page(hostile, ReportLanguage::kPersian),
              testing::AllOf(Not(HasSubstr("<script")), Not(HasSubstr("<img"))));
}

// What is left of a Persian page without markup, code and names of files and settings.
std::string words_of(std::string page) {
  page = page.substr(page.find("<body>"));
  const auto drop = [&page](const char* pattern) {
    page = std::regex_replace(page, std::regex(pattern), " ");
  };
  while (page.find("<style>") != page.npos) {
    const std::size_t begin = page.find("<style>");
    page.erase(begin, page.find("</style>") + 8 - begin);
  }
  drop("<pre[^>]*>[^<]*<code>[^<]*</code></pre>");
  drop("src=\"data:[^\"]*\"");
  drop("<t[dh][^>]* dir=\"ltr\">[^<]*</t[dh]>");
  drop("<[^>]*>");
  drop("HIGH VARIATION DETECTED");
  return page;
}

TEST(RunPageTest, APersianPageHasNoEnglishSentence) {
  const std::string page = run_page(full_story(), ReportLanguage::kPersian);
  EXPECT_THAT(page, HasSubstr("<html lang=\"fa\" dir=\"rtl\">"));
  EXPECT_TRUE(is_valid(page));
  const std::string words = words_of(page);
  const std::regex english("[A-Za-z]{2,}[,;:]? [a-z]{2,}[,;:]? [a-z]{2,}");
  for (std::sregex_iterator each(words.begin(), words.end(), english), end; each != end; ++each)
    ADD_FAILURE() << "English in a Persian page: " << each->str();
}

TEST(RunPageTest, APageIsBelowAMegabyteForARunOfAnyLength) {
  PlantedRun long_run{.num_batches = 4096};
  long_run.change = [](std::size_t i, PlantedBatch& batch) {
    batch.shape = static_cast<std::uint32_t>(i % 200);
    batch.padded_frames = 8200 + 10 * batch.shape;
    batch.step_s = 1e-3 * static_cast<double>(3 + i % 11);
  };
  RunStory story = full_story();
  const Evidence evidence = plant(long_run);
  story.watched = DiagnoseReport{evidence, judge(evidence)};
  story.num_batches = 1'000'000;
  for (int i = 20; i < 100'000; ++i) {
    story.metrics.add(i, std::vector<std::optional<double>>{1e-6 * i * (i % 97), 2, 1, 1, 20, 1});
    story.machine.add(i, std::vector<std::optional<double>>{i % 100, 1.5, 0.01 * (i % 89)});
  }
  story.sounds.front().bytes.resize(360'000);
  for (const ReportLanguage language : {ReportLanguage::kEnglish, ReportLanguage::kPersian})
    EXPECT_LT(run_page(story, language).size(), 900'000U);
}

TEST(RunPageTest, ALittleIsEnough) {
  RunStory story;
  story.metrics = FigureColumns({"loss", "step_ms", "data_ms"});
  for (int i = 0; i < 4; ++i)
    story.metrics.add(i, std::vector<std::optional<double>>{5.0 - i, 20, 19});
  EXPECT_EQ(story_sentence(story), "The consumer waits for the feed 95 % of its time.");
  EXPECT_TRUE(is_valid(run_page(story, ReportLanguage::kEnglish)));
  EXPECT_EQ(story_sentence({}), "Nothing was timed: there is no verdict.");
  EXPECT_TRUE(is_valid(run_page({}, ReportLanguage::kPersian)));
}

TEST(RunPageTest, ABenchmarkSaysItsShareOfTheLimit) {
  RunStory story;
  story.bench = {{.name = "naive files", .clips_per_s = 100, .limit = "one core"},
                 {.name = "native cached",
                  .clips_per_s = 900,
                  .limit = "memory",
                  .limit_clips_per_s = 1000,
                  .share_of_limit = 0.9}};
  EXPECT_EQ(story_sentence(story), "The feed reaches 90 % of what limits it: memory.");
  const std::string page = run_page(story, ReportLanguage::kEnglish);
  EXPECT_THAT(page, HasSubstr("native cached brings 9.00 times as much as naive files"));
  EXPECT_TRUE(is_valid(page));
}

TEST(RunPageTest, TheReportOfAFolderIsWritten) {
  const ScratchFolder run;
  run.put("metrics.jsonl", metrics_line(1, 4) + metrics_line(2, 3));
  const RunStory story =
      write_run_report(system_io(), run.path(), run / "out/page.html", ReportLanguage::kPersian);
  EXPECT_EQ(story.metrics.num_lines(), 2U);
  EXPECT_TRUE(std::filesystem::exists(run / "out/page.html"));
}

}  // namespace
}  // namespace stoker::observe
