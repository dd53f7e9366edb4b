// What a GPU waited for is the time between two steps beyond the usual.
#include "stoker/observe/step_clock.h"

#include <gtest/gtest.h>

namespace stoker::observe {
namespace {

TEST(StepTimesTest, OnlyWhatIsBeyondTheUsualGapIsWaiting) {
  const StepTimes times{.steps_s = {}, .gaps_s = {1e-6, 3e-6, 0.5e-6, 11e-6}, .intervals_s = {}};
  EXPECT_DOUBLE_EQ(times.wait_s(1e-6), 12e-6);
  EXPECT_DOUBLE_EQ(times.wait_s(0), 15.5e-6);
  EXPECT_DOUBLE_EQ(times.wait_s(1), 0);
}

TEST(StepTimesTest, RoundsAreOneAfterTheOther) {
  StepTimes times{.steps_s = {1}, .gaps_s = {2}, .intervals_s = {3}};
  times.append({.steps_s = {4, 5}, .gaps_s = {6}, .intervals_s = {7}});
  EXPECT_EQ(times.steps_s, (std::vector<double>{1, 4, 5}));
  EXPECT_EQ(times.gaps_s, (std::vector<double>{2, 6}));
  EXPECT_EQ(times.intervals_s, (std::vector<double>{3, 7}));
}

TEST(StepTimesTest, NothingTimedIsNothingWaited) {
  const StepTimes nothing;
  EXPECT_EQ(nothing.wait_s(0), 0);
}

}  // namespace
}  // namespace stoker::observe
