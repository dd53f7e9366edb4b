// The engine under seeded schedules: more than 10,000 interleavings of slots, hand-over, shutdown.
#include <gtest/gtest.h>

#include "stoker/base/error.h"
#include "stoker/pipeline/pipeline.h"
#include "tests/doubles/pct_scheduler.h"
#include "tests/pipeline/counting_filler.h"

namespace stoker::pipeline {
namespace {

PipelineOptions small(const PctScheduler& scheduler, unsigned num_workers, unsigned depth) {
  return {.num_workers = num_workers,
          .max_workers = 4,
          .depth = depth,
          .max_depth = 4,
          .stall_limit = std::chrono::nanoseconds(0),
          .end_limit = std::chrono::nanoseconds(0),
          .clock = &scheduler.clock()};
}

TEST(ScheduleTest, OrderHoldsInEverySchedule) {
  const Exploration seen = explore_schedules(4000, 1, [](PctScheduler& scheduler) {
    auto filler = std::make_shared<CountingFiller>(5);
    Pipeline pipeline(filler, small(scheduler, 2, 1));
    for (std::uint64_t expected = 0; expected < 5; ++expected) {
      const SlotLease lease = pipeline.next();
      ASSERT_EQ(lease.sequence(), expected);
      ASSERT_EQ(filler->value(lease.slot()), expected * expected);
    }
    ASSERT_FALSE(pipeline.next());
  });
  EXPECT_GE(seen.num_distinct, 500U);
}

TEST(ScheduleTest, TheFirstFailureInOrderWinsInEverySchedule) {
  explore_schedules(3000, 1, [](PctScheduler& scheduler) {
    auto filler = std::make_shared<CountingFiller>(6);
    filler->during = [](FillContext& context, std::size_t stage) {
      if (context.sequence() >= 2 && stage == 1) throw std::runtime_error("planted");
    };
    Pipeline pipeline(filler, small(scheduler, 3, 2));
    ASSERT_EQ(pipeline.next().sequence(), 0U);
    ASSERT_EQ(pipeline.next().sequence(), 1U);
    try {
      pipeline.next();
      FAIL() << "no failure";
    } catch (const Failure& failure) {
      ASSERT_EQ(failure.error().place.file, "file2");
    }
  });
}

// Workers that hang until they are stopped: the consumer waits, or is about to.
TEST(ScheduleTest, CancelAndStopWakeAWaitingConsumerInEverySchedule) {
  for (const bool by_token : {false, true}) {
    explore_schedules(500, 1, [by_token](PctScheduler& scheduler) {
      Gate never_opened;
      auto filler = std::make_shared<CountingFiller>(CountingFiller::kEndless);
      filler->during = [&](FillContext& context, std::size_t) {
        never_opened.wait(context.stop());
      };
      Pipeline pipeline(filler, small(scheduler, 2, 2));
      std::stop_source stop;
      const Thread other("cancel", [&](const std::stop_token&) {
        if (by_token) {
          stop.request_stop();
        } else {
          pipeline.cancel();
        }
      });
      ASSERT_FALSE(pipeline.next(stop.get_token()));
      ASSERT_EQ(pipeline.ending(), Ending::kCancelled);
    });
  }
}

TEST(ScheduleTest, ShutdownEndsInEverySchedule) {
  explore_schedules(3000, 1, [](PctScheduler& scheduler) {
    auto filler = std::make_shared<CountingFiller>(12);
    Pipeline pipeline(filler, small(scheduler, 2, 2));
    const SlotLease kept = pipeline.next();
    const Thread other("cancel", [&](const std::stop_token&) { pipeline.cancel(); });
    while (pipeline.next()) {
    }
    ASSERT_NE(pipeline.ending(), Ending::kNone);
  });
}

TEST(ScheduleTest, ChangingWorkersAndDepthLosesNothing) {
  explore_schedules(2000, 1, [](PctScheduler& scheduler) {
    auto filler = std::make_shared<CountingFiller>(6);
    Pipeline pipeline(filler, small(scheduler, 1, 1));
    for (std::uint64_t expected = 0; expected < 6; ++expected) {
      if (expected == 2) pipeline.set_num_workers(3);
      if (expected == 3) pipeline.set_depth(3);
      if (expected == 4) pipeline.set_num_workers(0);
      if (expected == 5) pipeline.set_depth(1);
      ASSERT_EQ(pipeline.next().sequence(), expected);
    }
    ASSERT_FALSE(pipeline.next());
  });
}

TEST(ScheduleTest, ASlotGivenBackElsewhereIsFoundInEverySchedule) {
  explore_schedules(2000, 1, [](PctScheduler& scheduler) {
    auto filler = std::make_shared<CountingFiller>(5);
    Pipeline pipeline(filler, small(scheduler, 2, 1));
    SlotLease first = pipeline.next();
    const SlotLease second = pipeline.next();
    SlotLease third = pipeline.next();  // of three slots
    const Thread other("release", [&](const std::stop_token&) {
      first.release();
      third.release();
    });
    ASSERT_EQ(pipeline.next().sequence(), 3U);
    ASSERT_EQ(pipeline.next().sequence(), 4U);
    ASSERT_FALSE(pipeline.next());
  });
}

TEST(ScheduleTest, SleepersAreCalledInEverySchedule) {
  explore_schedules(1500, 1, [](PctScheduler& scheduler) {
    auto filler = std::make_shared<CountingFiller>(24);
    PipelineOptions options = small(scheduler, 3, 8);  // enough slots for workers to sleep
    options.max_depth = 8;
    Pipeline pipeline(filler, options);
    for (std::uint64_t expected = 0; expected < 24; ++expected) {
      const SlotLease lease = pipeline.next();
      ASSERT_EQ(lease.sequence(), expected);
      ASSERT_EQ(filler->value(lease.slot()), expected * expected);
    }
    ASSERT_FALSE(pipeline.next());
  });
}

}  // namespace
}  // namespace stoker::pipeline
