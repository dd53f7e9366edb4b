// What a training leaves about its machine: lines, points of TensorBoard, a trace; and that none of
// it changes a step.
#include "stoker/train/loop/watch/run_watch.h"

#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "tests/train/loop/small_run.h"

namespace stoker::train {
namespace {

using testing::HasSubstr;

std::vector<Json> machine_lines(const SmallRun& run) {
  std::istringstream text(run.run_file("machine.jsonl"));
  std::vector<Json> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(Json::parse(line).value());
  return lines;
}

// Every update takes a while, so that there is something to watch.
void slow_down(SmallRun& run) {
  run.settings.observe.sample_interval_s = 0.02;
  run.script.on_update = [](std::uint64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(15));
  };
}

observe::GpuGauge planted_gauge(int) {
  return {.sample =
              [] {
                return cuda::GpuSample{.utilization_percent = 83,
                                       .memory_used_bytes = std::uint64_t{3} << 30U,
                                       .memory_total_bytes = std::uint64_t{8} << 30U,
                                       .power_w = 250.0};
              },
          .uuid = "GPU-planted"};
}

std::string events_text(const SmallRun& run) {
  std::string text;
  for (const auto& entry :
       std::filesystem::directory_iterator(run.settings.training.checkpoint_dir)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("events.")) text += run.run_file(name);
  }
  return text;
}

TEST(RunWatchTest, LeavesLinesOfTheMachineThatAResumeGoesOnWith) {
  SmallRun run;
  slow_down(run);
  run.train();
  const std::vector<Json> first = machine_lines(run);
  ASSERT_GE(first.size(), 2U);
  EXPECT_LT(first[0].at("at_ns").number(), first[1].at("at_ns").number());
  EXPECT_TRUE(first.back().contains("cores_allowed"));
  EXPECT_TRUE(first.back().contains("ready_batches"));
  EXPECT_FALSE(first.back().contains("gpu_percent")) << "there is none";
  run.settings.training.resume = true;
  run.settings.training.epochs = 4;
  run.train();
  EXPECT_GT(machine_lines(run).size(), first.size());
  EXPECT_EQ(machine_lines(run).front().dump(), first.front().dump());
}

TEST(RunWatchTest, ANewRunAndAResetBeginAnew) {
  SmallRun run;
  slow_down(run);
  run.train();
  const std::string before = run.run_file("machine.jsonl");
  run.settings.training.reset_training = true;
  run.train();
  EXPECT_EQ(run.run_file("machine.jsonl").find(before.substr(0, before.find('\n'))),
            std::string::npos);
  bool is_aside = false;
  for (const auto& entry :
       std::filesystem::directory_iterator(run.settings.training.checkpoint_dir)) {
    const std::string name = entry.path().filename().string();
    is_aside |= name.starts_with("before-") && name.ends_with("machine.jsonl");
  }
  EXPECT_TRUE(is_aside);
}

TEST(RunWatchTest, TensorBoardShowsTheFeedAndTheMachine) {
  SmallRun run;
  slow_down(run);
  run.open_gauge = planted_gauge;
  const Json result = run.train();
  const std::string events = events_text(run);
  for (const char* tag :
       {"feed/clips_per_s", "feed/stall_share", "feed/ready_batches", "feed/interval_cv",
        "gpu/utilization", "gpu/memory_gib", "gpu/power_w", "cpu/cores"})
    EXPECT_THAT(events, HasSubstr(tag));
  EXPECT_EQ(result.at("gpu_util_mean").number(), 83);
  EXPECT_EQ(machine_lines(run).back().at("gpu_percent").number(), 83);
}

TEST(RunWatchTest, WatchingChangesNoStep) {
  SmallRun plain;
  plain.settings.observe.records = false;
  plain.settings.observe.sample_interval_s = 3600;
  plain.train();
  SmallRun watched;
  watched.settings.observe.sample_interval_s = 0.01;
  watched.settings.observe.trace = watched.set.folder() / "t.json";
  watched.train();
  EXPECT_EQ(watched.script.updates, plain.script.updates);
}

TEST(RunWatchTest, ATraceHasEveryStepAndWhatWasDoneBesideIt) {
  SmallRun run;
  slow_down(run);
  run.settings.training.save_step = 3;
  const std::string path = run.set.folder() / "t.json";
  run.settings.observe.trace = path;
  const Json result = run.train();
  EXPECT_TRUE(run.has_told("open it in https://ui.perfetto.dev"));
  EXPECT_EQ(result.at("trace").text(), path);
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const Json trace = Json::parse(text).value();
  std::map<std::string, int> counts;
  for (const Json& event : trace.at("traceEvents").elements()) ++counts[event.at("name").text()];
  EXPECT_EQ(counts["step"], static_cast<int>(run.script.updates.size()));
  EXPECT_GT(counts["checkpoint"], 0);
  EXPECT_GT(counts["cores in use, by stoker"], 0);
}

TEST(RunWatchTest, ATraceThatCannotBeMadeIsRefusedAtTheStart) {
  SmallRun run;
  run.settings.observe.trace = "-";
  EXPECT_THAT(run.refusal(), HasSubstr("E-TRAIN-SETTINGS"));
  run.settings.observe.trace = run.set.folder().path();
  EXPECT_THAT(run.refusal(), HasSubstr("E-IO-KIND"));
  run.settings.observe.trace = run.set.folder() / "t.json";
  run.settings.observe.records = false;
  EXPECT_THAT(run.refusal(), HasSubstr("observe.records on"));
}

// The run goes on, and says once why there are no lines.
TEST(RunWatchTest, LinesThatCannotBeWrittenEndNothing) {
  SmallRun run;
  slow_down(run);
  std::filesystem::create_directories(run.settings.training.checkpoint_dir + "/machine.jsonl");
  EXPECT_GT(run.train().at("steps").number(), 2);
  EXPECT_TRUE(run.has_told("figures of this run cannot be written", "warning"));
}

}  // namespace
}  // namespace stoker::train
