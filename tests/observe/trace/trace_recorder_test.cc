// The trace of a ring that is written meanwhile: every batch once, late times with it, losses said.
#include "stoker/observe/trace/trace_recorder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>

#include "stoker/base/json.h"
#include "stoker/feed/records/record_ring.h"
#include "stoker/observe/trace/profile_run.h"
#include "tests/doubles/fake_clock.h"
#include "tests/doubles/fault_io.h"
#include "tests/doubles/scratch_folder.h"
#include "tests/feed/small_data_set.h"
#include "tests/observe/trace/made_batches.h"

namespace stoker::observe {
namespace {

// A ring that remembers 8 batches, and a recorder that looks when the test says so.
struct Recorded {
  explicit Recorded(Io& io = system_io()) {
    const feed::RingSize size{.num_ahead = 4, .num_kept = 8};
    ring = std::make_shared<feed::RecordRing>(feed::RecordMemory::in_process(size.num_bytes()),
                                              size, clock);
    clock.advance(std::chrono::nanoseconds(kStartNs));
    feed::RecordReader reader(ring);
    TraceWriter writer = TraceWriter::open(io, path, trace_head_of(reader.head())).take_or_raise();
    recorder = std::make_unique<TraceRecorder>(
        std::move(reader), std::move(writer),
        TraceRecorderOptions{.looks_every = std::chrono::hours(1), .clock = &clock});
  }

  void hand_out(std::uint64_t number) {
    const feed::BatchRecord record = made_batch(number);
    ring->put(record);
    ring->hand_out({.asked_ns = record.asked_ns, .handed_ns = record.handed_ns, .num_workers = 2});
  }
  void give_back(std::uint64_t number) { ring->give_back(number, made_batch(number).released_ns); }
  Json trace() const {
    std::ifstream file(path);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    return Json::parse(text).value();
  }
  std::vector<Json> named(const std::string& name) const {
    std::vector<Json> found;
    const Json whole = trace();
    for (const Json& event : whole.at("traceEvents").elements())
      if (event.at("name").text() == name) found.push_back(event);
    return found;
  }

  ScratchFolder scratch;
  std::string path = scratch / "t.json";
  FakeClock clock;
  std::shared_ptr<feed::RecordRing> ring;
  std::unique_ptr<TraceRecorder> recorder;
};

TEST(TraceRecorderTest, WritesEachBatchOnceWhenItsTimesAreKnown) {
  Recorded run;
  run.hand_out(0);
  run.hand_out(1);
  run.recorder->look_now();
  EXPECT_TRUE(run.named("wait").empty()) << "both are held";
  run.give_back(0);
  run.clock.advance(std::chrono::seconds(1));
  run.recorder->look_now();
  run.recorder->look_now();
  EXPECT_EQ(run.named("wait").size(), 1U);
  run.give_back(1);
  const TraceSummary summary = run.recorder->finish();
  EXPECT_EQ(summary.num_batches, 2U);
  EXPECT_EQ(summary.num_lost, 0U);
  ASSERT_EQ(run.named("step").size(), 2U);
  EXPECT_DOUBLE_EQ(run.named("step")[0].at("args").at("held_ms").number(), 9);
}

TEST(TraceRecorderTest, BatchesThatTheRingForgotAreCountedAndSaid) {
  Recorded run;
  for (std::uint64_t i = 0; i < 30; ++i) {
    run.hand_out(i);
    run.give_back(i);
  }
  run.clock.advance(std::chrono::seconds(1));
  const TraceSummary summary = run.recorder->finish();
  EXPECT_EQ(summary.num_batches, 8U);
  EXPECT_EQ(summary.num_lost, 22U);
  ASSERT_EQ(run.named("records lost").size(), 1U);
  EXPECT_EQ(run.named("records lost")[0].at("args").at("records").number(), 22);
}

TEST(TraceRecorderTest, AFullDiskEndsTheTraceAndNothingElse) {
  FaultIo io;
  io.plan({.at_call = 2,
           .calls = {IoCall::kWrite},
           .repeat = Fault::Repeat::kFromThenOn,
           .error_number = ENOSPC});
  Recorded run(io);
  run.hand_out(0);
  run.give_back(0);
  run.clock.advance(std::chrono::seconds(1));
  run.recorder->look_now();
  run.hand_out(1);
  const TraceSummary summary = run.recorder->finish();
  ASSERT_TRUE(summary.failure.has_value());
  EXPECT_EQ(summary.failure->place.file, run.path);
}

config::Settings plain_settings(feed::SmallDataSet& set) {
  config::Settings settings = set.settings();
  settings.run.device = "cpu";
  settings.loader.preprocessing_mode = config::PreprocessingMode::kRuntime;
  return settings;
}

// Every read takes 4 ms, as on storage that is far away.
TEST(ProfileRunTest, SlowStorageIsAWaitForInputOfFetch) {
  feed::SmallDataSet set(24);
  FaultIo io;
  io.plan({.kind = Fault::Kind::kDelay,
           .calls = {IoCall::kRead},
           .repeat = Fault::Repeat::kFromThenOn,
           .delay = std::chrono::milliseconds(4)});
  ProfileOptions options{
      .settings = plain_settings(set), .io = &io, .seconds = 100, .max_batches = 12};
  const FeedProfile profile = profile_feed(options).profile;
  for (const StageTimes& stage : profile.stages) {
    if (stage.name != "fetch") continue;
    EXPECT_GT(*stage.input_ms, stage.working_ms);
    EXPECT_GT(1e3 * stage.total_s / 12, 4);
  }
  EXPECT_NE(profile.text().find(": fetch "), std::string::npos) << profile.text();
}

TEST(ProfileRunTest, TheTraceHasEveryBatchAndTheSumsOfTheRun) {
  feed::SmallDataSet set(24);
  const std::string path = set.folder() / "t.json";
  ProfileOptions options{.settings = plain_settings(set), .seconds = 100, .max_batches = 40};
  options.trace.path = path;
  const ProfileReport report = profile_feed(options);
  EXPECT_EQ(report.profile.num_batches, 40U);
  ASSERT_TRUE(report.trace.has_value());
  EXPECT_EQ(report.trace->num_batches, 40U);
  EXPECT_GE(report.num_filled, 40U);
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::map<std::string, double> traced_s;
  const Json trace = Json::parse(text).value();
  for (const Json& event : trace.at("traceEvents").elements())
    if (event.contains("dur")) traced_s[event.at("name").text()] += 1e-6 * event.at("dur").number();
  for (const StageTimes& stage : report.profile.stages) {
    if (stage.thread != "worker") continue;
    EXPECT_NEAR(traced_s[stage.name], stage.total_s, 1e-6 + 0.01 * stage.total_s) << stage.name;
  }
  for (const pipeline::StageTime& counted : report.counted)
    EXPECT_GE(counted.busy_s, 0.99 * traced_s[std::string(counted.name)]) << counted.name;
}

}  // namespace
}  // namespace stoker::observe
