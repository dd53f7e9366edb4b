// The arithmetic of a profile, from records whose times are known.
#include "stoker/observe/trace/feed_profile.h"

#include <gmock/gmock.h>

#include "tests/observe/trace/made_batches.h"

namespace stoker::observe {
namespace {

using testing::HasSubstr;

FeedProfile profile_of(const std::vector<feed::BatchRecord>& records,
                       const std::optional<MachineWindow>& machine = {}) {
  ProfileSums sums;
  for (const feed::BatchRecord& record : records) sums.add(record);
  return sums.profile(machine);
}

const StageTimes& stage_named(const FeedProfile& profile, const std::string& name) {
  for (const StageTimes& stage : profile.stages)
    if (stage.name == name) return stage;
  throw std::out_of_range(name);
}

MachineWindow waiting_workers(double seconds_per_second) {
  MachineWindow window;
  window.cpu.threads.push_back(
      {.name = "stoker-fill-0", .num_threads = 1, .run_queue_wait = seconds_per_second});
  return window;
}

// A batch is 8 ms of a worker, 7 of them on a core; the other one is spent in reading.
TEST(FeedProfileTest, TimeOffTheProcessorIsAWaitForStorage) {
  const FeedProfile profile = profile_of(made_batches(101));
  EXPECT_EQ(profile.num_batches, 101U);
  EXPECT_NEAR(profile.data_ms, 1, 1e-9);
  EXPECT_NEAR(profile.compute_ms, 9, 1e-9);
  EXPECT_NEAR(profile.fill_ms(), 8, 1e-9);
  const StageTimes& fetch = stage_named(profile, "fetch");
  EXPECT_NEAR(*fetch.input_ms, 1, 1e-9);
  EXPECT_NEAR(fetch.working_ms, 1, 1e-9);
  EXPECT_NEAR(fetch.total_s, 0.202, 1e-9);
  EXPECT_NEAR(stage_named(profile, "mel").working_ms, 6, 1e-9);
  // Two workers have 20 ms for a batch and need 8.
  EXPECT_NEAR(*stage_named(profile, "plan").room_ms, 12, 0.2);
  EXPECT_NEAR(*stage_named(profile, "step").input_ms, 1, 1e-9);
}

TEST(FeedProfileTest, TimeInTheQueueOfACoreIsAWaitForTheCore) {
  const FeedProfile profile = profile_of(made_batches(101), waiting_workers(0.1));
  EXPECT_NEAR(*stage_named(profile, "fetch").input_ms, 0, 0.02);
  EXPECT_NEAR(*stage_named(profile, "mel").core_ms, 0.75, 0.02) << "six eighths of the millisecond";
}

TEST(FeedProfileTest, AWorkerThatIsWokenWithoutACoreDoesNotWaitForRoom) {
  const FeedProfile profile = profile_of(made_batches(101), waiting_workers(1.0));
  EXPECT_NEAR(*stage_named(profile, "plan").room_ms, 3, 0.3) << "10 ms of queueing, 1 in the fill";
}

TEST(FeedProfileTest, WhatTheConsumerSaysItDidIsNotItsStep) {
  std::vector<feed::BatchRecord> records = made_batches(11);
  for (feed::BatchRecord& record : records)
    record.works_ns[static_cast<std::size_t>(feed::ConsumerWork::kLogging)] = 2 * kMs;
  const FeedProfile profile = profile_of(records);
  EXPECT_NEAR(stage_named(profile, "logging").working_ms, 2, 1e-9);
  EXPECT_NEAR(stage_named(profile, "step").working_ms, 7, 1e-9);
}

TEST(FeedProfileTest, AGpuIsTimedByTheBatchesThatWereMeasured) {
  std::vector<feed::BatchRecord> records = made_batches(10);
  stage_of(records[3], feed::RecordStage::kCopy) = {1, 2, 4 * kMs};
  for (feed::BatchRecord& record : records)
    stage_of(record, feed::RecordStage::kWaitSlot) = {1, 2, kMs};
  const StageTimes copy = stage_named(profile_of(records), "copy");
  EXPECT_NEAR(copy.working_ms, 4, 1e-9);
  EXPECT_NEAR(*copy.room_ms, 1, 1e-9);
  EXPECT_EQ(copy.thread, "gpu");
}

TEST(FeedProfileTest, TheWordsAreThoseOfTheOriginal) {
  EXPECT_EQ(name_of(judge_load(99.9)), "good");
  EXPECT_EQ(name_of(judge_load(100)), "moderate");
  EXPECT_EQ(name_of(judge_load(500)), "moderate");
  EXPECT_EQ(name_of(judge_load(500.1)), "slow");
}

TEST(FeedProfileTest, SaysWhatTheNumberIsMadeOf) {
  const FeedProfile profile = profile_of(made_batches(101));
  EXPECT_THAT(profile.text(), HasSubstr("loading    good (1 ms a batch"));
  EXPECT_THAT(profile.text(),
              HasSubstr("filling a batch takes 8 ms: mel 75 %, fetch 25 %; 2 workers can bring "
                        "one every 4 ms"));
  const std::string table = profile.text().substr(0, profile.text().find("batches "));
  for (std::size_t at = 0; at < table.size(); at = table.find('\n', at) + 1)
    EXPECT_LE(table.find('\n', at) - at, 80U) << "fits a terminal";
  const Json json = profile.json();
  EXPECT_EQ(json.at("verdict").text(), "good");
  EXPECT_NEAR(json.at("batch_ms").at("mean").number(), 1, 1e-9);
  EXPECT_EQ(json.at("stages").elements().front().at("name").text(), "plan");
  EXPECT_EQ(json.at("stages").elements().front().at("waiting_for_input_ms").dump(), "null");
}

TEST(FeedProfileTest, NoBatchIsNoFigure) {
  const FeedProfile profile = profile_of({});
  EXPECT_EQ(profile.num_batches, 0U);
  EXPECT_THAT(profile.text(), HasSubstr("no stage of a worker was measured"));
}

}  // namespace
}  // namespace stoker::observe
