// What counts as a stall, by times that the test names.
#include "stoker/pipeline/watchdog.h"

#include <gtest/gtest.h>

namespace stoker::pipeline {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class WatchdogTest : public testing::Test {
 protected:
  Watchdog watchdog{seconds(60), 2};
  Activity activity;
};

TEST_F(WatchdogTest, AWorkerWithoutAStepIsReportedAtTheLastLookBeforeTheLimit) {
  activity.begin(3, seconds(100));
  EXPECT_FALSE(watchdog.look(1, activity, seconds(100)));
  EXPECT_EQ(watchdog.period(), seconds(3));
  EXPECT_FALSE(watchdog.look(1, activity, seconds(156)));
  EXPECT_EQ(watchdog.look(1, activity, seconds(157)), seconds(57));
}

TEST_F(WatchdogTest, AnyStepBeginsAnew) {
  activity.begin(3, seconds(100));
  EXPECT_FALSE(watchdog.look(0, activity, seconds(100)));
  activity.at_item(7);
  EXPECT_FALSE(watchdog.look(0, activity, seconds(159)));
  EXPECT_FALSE(watchdog.look(0, activity, seconds(200)));
  EXPECT_TRUE(watchdog.look(0, activity, seconds(216)));
}

TEST_F(WatchdogTest, AWorkerWithoutWorkIsNoStall) {
  EXPECT_FALSE(watchdog.look(0, activity, seconds(100)));
  EXPECT_FALSE(watchdog.look(0, activity, seconds(1000)));
  activity.begin(3, seconds(1000));
  activity.finish(seconds(1001));
  EXPECT_FALSE(watchdog.look(0, activity, seconds(2000)));
  EXPECT_FALSE(watchdog.look(0, activity, seconds(3000)));
  EXPECT_EQ(watchdog.num_stalls(), 0U);
}

TEST_F(WatchdogTest, AShortStallIsCountedOnce) {
  activity.begin(3, seconds(100));
  watchdog.look(0, activity, seconds(100));
  watchdog.look(0, activity, seconds(110) - milliseconds(1));
  EXPECT_EQ(watchdog.num_stalls(), 0U);
  watchdog.look(0, activity, seconds(110));
  watchdog.look(0, activity, seconds(120));
  EXPECT_EQ(watchdog.num_stalls(), 1U);
  activity.enter(1, seconds(121));
  watchdog.look(0, activity, seconds(121));
  watchdog.look(0, activity, seconds(131));
  EXPECT_EQ(watchdog.num_stalls(), 2U) << "the next stage stalls too";
}

TEST_F(WatchdogTest, WorkersAreWatchedApart) {
  Activity other;
  activity.begin(3, seconds(100));
  other.begin(4, seconds(100));
  watchdog.look(0, activity, seconds(100));
  watchdog.look(1, other, seconds(100));
  other.enter(1, seconds(150));
  EXPECT_TRUE(watchdog.look(0, activity, seconds(160)));
  EXPECT_FALSE(watchdog.look(1, other, seconds(160)));
}

}  // namespace
}  // namespace stoker::pipeline
