// Saving beside training: order, failures and waits, also under seeded schedules.
#include "stoker/train/checkpoint/checkpoint_saver.h"

#include "stoker/base/errors.h"
#include "tests/doubles/fault_io.h"
#include "tests/doubles/log_lines.h"
#include "tests/doubles/pct_scheduler.h"
#include "tests/doubles/refused_threads.h"
#include "tests/doubles/write_list_io.h"
#include "tests/train/checkpoint/small_checkpoint.h"

namespace stoker::train {
namespace {

RunFolder open_run(Io& io) { return RunFolder::open(io, "/run").take_or_raise(); }

TEST(CheckpointSaverTest, WhatIsSubmittedIsOnDiskAfterAWait) {
  WriteListIo disk;
  CheckpointSaver saver(open_run(disk), {});
  EXPECT_FALSE(saver.stats().last_step);
  for (const std::uint64_t step : {1U, 2U, 3U}) saver.submit(small_checkpoint(step, 0.5));
  saver.wait();
  const SaverStats stats = saver.stats();
  EXPECT_EQ(stats.num_saved, 3U);
  EXPECT_EQ(stats.num_failed, 0U);
  EXPECT_EQ(stats.last_step, 3U);
  EXPECT_FALSE(stats.last_error);
  EXPECT_GE(stats.last_save_s, 0);
  EXPECT_TRUE(is_same(load_checkpoint(disk, "/run")->checkpoint, small_checkpoint(3, 0.5)));
}

TEST(CheckpointSaverTest, DestructionWaitsForTheSave) {
  WriteListIo disk;
  { CheckpointSaver(open_run(disk), {}).submit(small_checkpoint(7, 0.5)); }
  EXPECT_EQ(load_checkpoint(disk, "/run")->checkpoint.step, 7U);
}

TEST(CheckpointSaverTest, SubmitWaitsForTheSaveBeforeButNotForItsOwn) {
  std::uint64_t num_ahead = 0;
  explore_schedules(200, 1, [&](PctScheduler&) {
    WriteListIo disk;
    CheckpointSaver saver(open_run(disk), {});
    saver.submit(small_checkpoint(1, 0.5));
    if (saver.stats().num_saved == 0) ++num_ahead;
    saver.submit(small_checkpoint(2, 0.5));
    ASSERT_GE(saver.stats().num_saved, 1U);
  });
  EXPECT_GT(num_ahead, 0U);
}

// One replacement during each load: whatever the reader was at, it finds the old or the new one.
TEST(CheckpointSaverTest, AReaderMeetsAWholeCheckpointWhileItIsReplaced) {
  WriteListIo disk;
  CheckpointSaver saver(open_run(disk), {});
  saver.submit(small_checkpoint(5, 0.5));
  saver.wait();
  for (std::uint64_t variant = 1; variant <= 60; ++variant) {
    FaultIo io(disk);
    io.plan({.kind = Fault::Kind::kDelay,
             .at_call = 1 + variant % 12,
             .calls = {IoCall::kOpen},
             .delay = std::chrono::milliseconds(5)});
    saver.submit(small_checkpoint(5, 0.5, variant));
    const Result<FoundCheckpoint> found = load_checkpoint(io, "/run");
    ASSERT_TRUE(found.ok()) << error_line(found.error());
    ASSERT_TRUE(is_same(found->checkpoint, small_checkpoint(5, 0.5, variant)) ||
                is_same(found->checkpoint, small_checkpoint(5, 0.5, variant - 1)));
    saver.wait();
  }
  EXPECT_EQ(saver.stats().num_failed, 0U);
}

TEST(CheckpointSaverTest, AFullDiskIsSaidCountedAndTriedAgain) {
  const auto lines = std::make_shared<LogLines>();
  set_log_sink(lines);
  WriteListIo disk;
  FaultIo io(disk);
  CheckpointSaver saver(open_run(io), {});
  saver.submit(small_checkpoint(1, 0.5));
  saver.wait();
  io.plan(
      {.calls = {IoCall::kWrite}, .repeat = Fault::Repeat::kFromThenOn, .error_number = ENOSPC});
  saver.submit(small_checkpoint(2, 0.5));
  saver.submit(small_checkpoint(3, 0.5));
  saver.wait();
  EXPECT_EQ(saver.stats().num_failed, 2U);
  EXPECT_EQ(saver.stats().last_step, 1U);
  ASSERT_TRUE(saver.stats().last_error);
  EXPECT_EQ(saver.stats().last_error->code, &kIoFull);
  EXPECT_EQ(load_checkpoint(disk, "/run")->checkpoint.step, 1U);
  io.clear_faults();
  saver.submit(small_checkpoint(4, 0.5));
  saver.wait();
  set_log_sink(nullptr);
  EXPECT_EQ(saver.stats().num_saved, 2U);
  EXPECT_EQ(saver.stats().last_step, 4U);
  EXPECT_FALSE(saver.stats().last_error);
  EXPECT_EQ(load_checkpoint(disk, "/run")->checkpoint.step, 4U);
  ASSERT_EQ(lines->lines().size(), 2U);
  EXPECT_NE(lines->lines().front().find("step=2"), std::string::npos);
  EXPECT_NE(lines->lines().front().find("E-IO-FULL"), std::string::npos);
}

TEST(CheckpointSaverTest, AThreadThatCannotStartIsAnError) {
  WriteListIo disk;
  {
    const RefusedThreads refused(0);
    EXPECT_THROW(CheckpointSaver(open_run(disk), {}), MemoryError);
  }
  EXPECT_TRUE(RunFolder::open(disk, "/run").ok());  // the lock is free again
}

TEST(CheckpointSaverTest, NothingIsLostOrHangsInAnySchedule) {
  const Exploration seen = explore_schedules(600, 1, [](PctScheduler&) {
    WriteListIo disk;
    FaultIo io(disk);
    {
      CheckpointSaver saver(open_run(io), kOneLast);
      io.plan({.at_call = 2, .calls = {IoCall::kMakeFolder}, .error_number = ENOSPC});
      for (const std::uint64_t step : {1U, 2U, 3U}) saver.submit(small_checkpoint(step, 0.5));
      saver.wait();
      ASSERT_EQ(saver.stats().num_saved, 2U);
      ASSERT_EQ(saver.stats().num_failed, 1U);
      saver.submit(small_checkpoint(4, 0.5));
    }
    ASSERT_EQ(load_checkpoint(disk, "/run")->checkpoint.step, 4U);
  });
  EXPECT_GE(seen.num_distinct, 20U);
}

}  // namespace
}  // namespace stoker::train
