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

TEST(FillTimesTest, ItemsOfShortFillsAreTimedOnceAMillisecond) {
  FillTimes times;
  int num_timed = 0;
  for (int fill = 0; fill < 40; ++fill) {
    const nanoseconds begin(250'000 * fill);
    times.begin(begin);
    times.enter(1, begin + nanoseconds(100'000));
    for (const std::uint64_t item : {3U, 4U, 5U}) times.begin_item(item);
    times.end(begin + nanoseconds(200'000));
    const bool is_timed = times.slowest().item != kNoItem;
    EXPECT_EQ(is_timed, fill % 4 == 0) << fill;
    EXPECT_EQ(times.stage(1).busy.count(), 100'000);
    num_timed += is_timed ? 1 : 0;
  }
  EXPECT_EQ(num_timed, 10);
}

// In every fill, by the clock of the stages where there are no ticks.
TEST(FillTimesTest, AnItemThatEntersStagesIsTimedInShortFillsToo) {
  FillTimes times;
  for (int fill = 0; fill < 6; ++fill) {
    nanoseconds now(100'000 * fill);
    times.begin(now);
    for (const std::uint64_t item : {10U, 11U, 12U}) {
      times.begin_item(item);
      times.enter(1, now += nanoseconds(50));
      times.enter(2, now += nanoseconds(100));
      now += nanoseconds(item == 11 ? 9000 : 1000);
    }
    times.end(now);
    if (fill == 0) continue;  // by ticks, of which the test has none
    EXPECT_EQ(times.slowest().item, 11U);
    EXPECT_EQ(times.slowest().stage, 2U);
    EXPECT_EQ(times.slowest().time.count(), 9050);
  }
}

}  // namespace
}  // namespace stoker::pipeline
