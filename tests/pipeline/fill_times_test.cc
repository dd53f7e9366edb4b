// Stages and items of one fill, by marks that a test gives.
#include "stoker/pipeline/fill_times.h"

#include <gtest/gtest.h>

#include <thread>

#include "stoker/base/clock.h"

namespace stoker::pipeline {
namespace {

using std::chrono::nanoseconds;

TEST(FillTimesTest, TheTimeBetweenMarksBelongsToTheStageEnteredLast) {
  FillTimes times;
  times.begin(nanoseconds(100));
  times.enter(0, nanoseconds(110));
  times.enter(2, nanoseconds(130));
  times.enter(1, nanoseconds(170));
  times.enter(2, nanoseconds(175));
  times.end(nanoseconds(180));
  EXPECT_EQ(times.stage(0).begin.count(), 100);
  EXPECT_EQ(times.stage(0).end.count(), 130);
  EXPECT_EQ(times.stage(0).busy.count(), 30);
  EXPECT_EQ(times.stage(2).begin.count(), 130);
  EXPECT_EQ(times.stage(2).end.count(), 180);
  EXPECT_EQ(times.stage(2).busy.count(), 45);
  EXPECT_EQ(times.stage(1).busy.count(), 5);
  EXPECT_EQ(times.stage(3).end.count(), 0);
  EXPECT_EQ(times.slowest().item, kNoItem);
  times.begin(nanoseconds(300));
  times.end(nanoseconds(301));
  EXPECT_EQ(times.stage(2).busy.count(), 0);
  EXPECT_EQ(times.stage(0).busy.count(), 1);
}

TEST(FillTimesTest, TheSlowestItemIsKnownWithItsStage) {
  FillTimes times;
  const Clock& clock = system_clock();
  times.begin(clock.now());
  times.enter(1, clock.now());
  for (const int item : {7, 8, 9}) {
    times.begin_item(static_cast<std::uint64_t>(item));
    times.enter(2, clock.now());
    if (item == 8) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    times.enter(1, clock.now());
  }
  times.end(clock.now());
  EXPECT_EQ(times.slowest().item, 8U);
  EXPECT_EQ(times.slowest().stage, 2U);
  EXPECT_GE(times.slowest().time, std::chrono::milliseconds(19));
  EXPECT_LE(times.slowest().time, times.ended() - times.begun());
}

}  // namespace
}  // namespace stoker::pipeline
