// What is gathered of a run's folder: all of it, some of it, half-written parts.
#include "stoker/observe/report/run_story.h"

#include <gmock/gmock.h>

#include <string>

#include "planted_run.h"
#include "stoker/observe/errors.h"
#include "stoker/observe/machine/json_lines.h"

namespace stoker::observe {
namespace {

std::vector<std::string> missing_files(const RunStory& story) {
  std::vector<std::string> files;
  for (const MissingPart& part : story.missing) files.push_back(part.file);
  return files;
}

TEST(FigureColumnsTest, MeansStayExactHoweverManyLinesThereAre) {
  FigureColumns columns({"a", "b"});
  double sum = 0;
  for (std::size_t i = 0; i < 100'000; ++i) {
    const double value = static_cast<double>(i % 7);
    sum += value;
    columns.add(static_cast<double>(i), std::array<std::optional<double>, 2>{value, std::nullopt});
  }
  EXPECT_EQ(columns.num_lines(), 100'000U);
  EXPECT_NEAR(*columns.mean("a"), sum / 100'000, 1e-9);
  EXPECT_EQ(columns.highest("a"), 6.0);
  EXPECT_FALSE(columns.has("b"));
  EXPECT_FALSE(columns.mean("no such figure"));
  const ChartSeries series = columns.means("a", "title");
  EXPECT_LE(series.x.size(), FigureColumns::kMostColumns);
  EXPECT_GE(series.x.size(), FigureColumns::kMostColumns / 2);
  EXPECT_TRUE(std::is_sorted(series.x.begin(), series.x.end()));
}

TEST(FigureColumnsTest, FewLinesAreShownOneByOne) {
  FigureColumns columns({"a"});
  for (const double x : {1.0, 2.0, 5.0})
    columns.add(x, std::array<std::optional<double>, 1>{10 * x});
  EXPECT_THAT(columns.means("a", "").x, testing::ElementsAre(1, 2, 5));
  EXPECT_THAT(columns.means("a", "").y, testing::ElementsAre(10, 20, 50));
  EXPECT_THAT(columns.means("a", "", 2, 4).x, testing::ElementsAre(0));
  EXPECT_EQ(columns.first("a"), 10.0);
  EXPECT_EQ(columns.last("a"), 50.0);
}

TEST(JsonLinesTest, CutAndBrokenLinesAreLeftOut) {
  const ScratchFolder folder;
  folder.put("a.jsonl", "{\"a\":1}\nnot json\n\n{\"a\":null}\n" + std::string(3'000'000, 'x') +
                            "\n{\"a\":true}\n{\"a\":3");
  std::vector<std::optional<double>> seen;
  const Result<std::uint64_t> left_out =
      read_json_lines(system_io(), folder / "a.jsonl",
                      [&](const Json& line) { seen.push_back(number_in(line, "a")); });
  ASSERT_TRUE(left_out);
  EXPECT_EQ(*left_out, 2U);
  EXPECT_THAT(seen, testing::ElementsAre(1.0, std::nullopt, 1.0));
  EXPECT_FALSE(read_json_lines(system_io(), folder / "none.jsonl", [](const Json&) {}));
}

TEST(RunStoryTest, AWholeRunIsToldWhole) {
  const ScratchFolder run;
  auto ring = put_records(run.path(), plant({}));
  run.put("metrics.jsonl", metrics_line(1, 4) + metrics_line(2, 3) + metrics_line(3, 2));
  run.put("machine.jsonl", machine_line(1, 50) + machine_line(2, 90));
  run.put("config.yaml", "data:\n  batch_size: 7\ntraining:\n  steps: 3\n");
  run.put("samples/step-00000003-1.wav", "RIFF");
  EXPECT_EQ(load_run_story(system_io(), run.path()).status, RunStatus::kRunning);
  ring->end();
  ring.reset();
  const RunStory story = load_run_story(system_io(), run.path());
  EXPECT_EQ(story.status, RunStatus::kFinished);
  EXPECT_TRUE(story.missing.empty()) << story.missing.front().reason;
  ASSERT_TRUE(story.watched);
  EXPECT_EQ(story.watched->evidence.watch.records.size(), 240U);
  EXPECT_EQ(story.watched->diagnosis.verdict, LoopVerdict::kHealthy);
  EXPECT_EQ(story.metrics.num_lines(), 3U);
  EXPECT_EQ(story.metrics.last("loss"), 2.0);
  EXPECT_EQ(story.machine.mean("gpu_percent"), 70.0);
  EXPECT_EQ(story.machine.mean("gpu_throttled"), 0.0);
  ASSERT_EQ(story.sounds.size(), 1U);
  EXPECT_EQ(story.sounds[0].file, "step-00000003-1.wav");
  std::vector<std::string> changed;
  for (const StorySetting& setting : story.settings) changed.push_back(setting.path);
  EXPECT_THAT(changed, testing::UnorderedElementsAre("data.batch_size", "training.steps"));
}

TEST(RunStoryTest, AKilledRunIsToldFromWhatIsThere) {
  const ScratchFolder run;
  put_records(run.path(), plant({})).reset();  // gone without a word
  run.put("metrics.jsonl", metrics_line(1, 4) + metrics_line(2, 3) + "{\"step\":3,\"lo");
  const RunStory story = load_run_story(system_io(), run.path());
  EXPECT_EQ(story.status, RunStatus::kKilled);
  EXPECT_EQ(story.metrics.num_lines(), 2U);
  EXPECT_THAT(missing_files(story), testing::ElementsAre("machine.jsonl", "config.yaml"));
}

TEST(RunStoryTest, ABrokenPartHidesNoOther) {
  const ScratchFolder run;
  run.put("records.ring", "not records");
  run.put("config.yaml", "data: [");
  run.put("metrics.jsonl", metrics_line(1, 4));
  const RunStory story = load_run_story(system_io(), run.path());
  EXPECT_EQ(story.metrics.num_lines(), 1U);
  EXPECT_FALSE(story.watched);
  ASSERT_THAT(missing_files(story),
              testing::ElementsAre("records.ring", "machine.jsonl", "config.yaml"));
  EXPECT_THAT(story.missing[0].reason, testing::StartsWith("error[E-RECORDS-"));
  EXPECT_THAT(story.missing[2].reason, testing::StartsWith("error[E-CONFIG-"));
}

TEST(RunStoryTest, AClockThatStartsAgainBeginsAnew) {
  const ScratchFolder run;
  run.put("machine.jsonl", machine_line(900, 10) + machine_line(1, 50) + machine_line(2, 60));
  const FigureColumns machine = load_machine(system_io(), run / "machine.jsonl");
  EXPECT_EQ(machine.num_lines(), 2U);
  EXPECT_EQ(machine.mean("gpu_percent"), 55.0);
}

TEST(RunStoryTest, LongSoundsStayInTheirFolder) {
  const ScratchFolder run;
  run.put("metrics.jsonl", metrics_line(1, 4));
  run.put("samples/step-00000001-1.wav", std::string(100'000, 'a'));
  run.put("samples/step-00000002-1.wav", std::string(2'000'000, 'a'));
  const RunStory story = load_run_story(system_io(), run.path());
  ASSERT_EQ(story.sounds.size(), 1U);
  EXPECT_EQ(story.sounds[0].file, "step-00000001-1.wav");
  EXPECT_EQ(story.num_more_sounds, 1U);
}

TEST(RunStoryTest, AFolderWithoutARunIsRefused) {
  const ScratchFolder folder;
  folder.put("holiday.txt", "sand");
  try {
    static_cast<void>(load_run_story(system_io(), folder.path()));
    FAIL() << "no error";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, &kReportEmpty);
    EXPECT_EQ(failure.error().place.file, folder.path());
  }
  EXPECT_THROW(static_cast<void>(load_run_story(system_io(), folder / "none")), Failure);
}

}  // namespace
}  // namespace stoker::observe
