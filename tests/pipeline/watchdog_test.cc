// What counts as a stall, by times that the test names.
#include "stoker/pipeline/watchdog.h"

#include <gtest/gtest.h>

namespace stoker::pipeline {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class WatchdogTest : public testing::Test {
 protected:
  // Looks as the pipeline does, every period from `from` to `to`, and says what the last one says.
  std::optional<std::chrono::nanoseconds> look(unsigned worker, const Activity& watched,
                                               seconds from, seconds to) {
    for (; from < to; from += seconds(3)) watchdog.look(worker, watched, from);
    return watchdog.look(worker, watched, to);
  }

  Watchdog watchdog{seconds(60), 2};
  Activity activity;
};

TEST_F(WatchdogTest, AWorkerWithoutAStepIsReportedAtTheLastLookBeforeTheLimit) {
  activity.begin(3, seconds(100));
  EXPECT_EQ(watchdog.period(), seconds(3));
  EXPECT_FALSE(look(1, activity, seconds(100), seconds(156)));
  EXPECT_EQ(watchdog.look(1, activity, seconds(157)), seconds(57));
}

TEST_F(WatchdogTest, AnyStepBeginsAnew) {
  activity.begin(3, seconds(100));
  EXPECT_FALSE(look(0, activity, seconds(100), seconds(150)));
  activity.at_item(7);
  EXPECT_FALSE(look(0, activity, seconds(159), seconds(200)));
  EXPECT_TRUE(look(0, activity, seconds(203), seconds(216)));
}

TEST_F(WatchdogTest, AWorkerWithoutWorkIsNoStall) {
  EXPECT_FALSE(look(0, activity, seconds(100), seconds(1000)));
  activity.begin(3, seconds(1000));
  EXPECT_FALSE(watchdog.look(0, activity, seconds(1000))) << "it slept, and begins only now";
  activity.finish(seconds(1001));
  EXPECT_FALSE(look(0, activity, seconds(1003), seconds(3000)));
  EXPECT_EQ(watchdog.num_stalls(), 0U);
}

TEST_F(WatchdogTest, AProcessThatWasStoppedHasNotStalled) {
  activity.begin(3, seconds(100));
  EXPECT_FALSE(look(0, activity, seconds(100), seconds(106)));
  EXPECT_FALSE(watchdog.look(0, activity, seconds(4000))) << "Ctrl-Z, and back an hour later";
  EXPECT_FALSE(look(0, activity, seconds(4003), seconds(4038)));
  EXPECT_EQ(watchdog.look(0, activity, seconds(4039)), seconds(6 + 12 + 39));
}

TEST_F(WatchdogTest, AConsumerThatHoldsEverySlotIsReportedAtTheLimit) {
  for (seconds now(102); now < seconds(160); now += seconds(3))
    EXPECT_FALSE(watchdog.is_past_limit(seconds(100), now)) << now.count();
  EXPECT_TRUE(watchdog.is_past_limit(seconds(100), seconds(162)));
}

TEST_F(WatchdogTest, EachWaitOfTheConsumerBeginsAnew) {
  for (seconds now(102); now < seconds(150); now += seconds(3))
    EXPECT_FALSE(watchdog.is_past_limit(seconds(100), now));
  EXPECT_FALSE(watchdog.is_past_limit(std::nullopt, seconds(152)));
  EXPECT_FALSE(watchdog.is_past_limit(seconds(154), seconds(155)));
  for (seconds now(158); now < seconds(214); now += seconds(3))
    EXPECT_FALSE(watchdog.is_past_limit(seconds(154), now)) << now.count();
  EXPECT_TRUE(watchdog.is_past_limit(seconds(154), seconds(215)));
}

TEST_F(WatchdogTest, AConsumerThatWasStoppedWhileItHeldEverySlotGoesOn) {
  EXPECT_FALSE(watchdog.is_past_limit(seconds(100), seconds(102)));
  EXPECT_FALSE(watchdog.is_past_limit(seconds(100), seconds(4000))) << "Ctrl-Z, and back later";
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
  look(1, other, seconds(100), seconds(150));
  other.enter(1, seconds(150));
  EXPECT_TRUE(look(0, activity, seconds(100), seconds(160)));
  EXPECT_FALSE(look(1, other, seconds(153), seconds(160)));
}

}  // namespace
}  // namespace stoker::pipeline
