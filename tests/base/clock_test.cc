#include "stoker/base/clock.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(ClockTest, MonotonicTimeMovesOn) {
  const Stopwatch watch;
  const auto first = system_clock().now();
  EXPECT_GE(system_clock().now(), first);
  EXPECT_GE(watch.seconds(), 0.0);
  EXPECT_GT(system_clock().unix_time_ns(), 1'700'000'000'000'000'000);
}

}  // namespace
}  // namespace stoker
