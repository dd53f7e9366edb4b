// When training may begin: with a fake clock and a ring that the test fills by hand.
#include "stoker/feed/start_rule.h"

#include <gtest/gtest.h>

#include <future>

#include "tests/doubles/fake_clock.h"
#include "tests/doubles/simulated_gpu.h"

namespace stoker::feed {
namespace {

BatchFormat small_format() {
  BatchFormat format;
  format.max_mel_frames = format.max_tokens = 8;
  format.max_rows = format.max_global_rows = 1;
  return format;
}

// A ring that the test fills by hand.
class StartRuleTest : public testing::Test {
 protected:
  StartRuleTest() : ring_(small_format(), {.api = &gpu_, .device = 0, .num_slots = 4}) {}

  void make_ready() { ring_.push_ready(*ring_.take_free({})); }
  std::future<StartReport> start(std::chrono::nanoseconds delay) {
    return std::async(std::launch::async, [this, delay] {
      return await_start(ring_, {.delay = delay, .clock = &clock_});
    });
  }
  static bool is_waiting(const std::future<StartReport>& started) {
    return started.wait_for(std::chrono::milliseconds(30)) == std::future_status::timeout;
  }

  SimulatedGpu gpu_;
  FakeClock clock_;
  DeviceRing ring_;
};

TEST_F(StartRuleTest, NeverBeforeOneBatchIsReady) {
  auto started = start(std::chrono::nanoseconds(0));
  clock_.advance(std::chrono::hours(1));
  EXPECT_TRUE(is_waiting(started));
  make_ready();
  EXPECT_EQ(started.get().num_ready, 1U);
}

TEST_F(StartRuleTest, AsSoonAsTheBufferIsFull) {
  auto started = start(std::chrono::seconds(2));
  for (int i = 0; i < 3; ++i) make_ready();
  EXPECT_TRUE(is_waiting(started));
  make_ready();
  const StartReport report = started.get();
  EXPECT_EQ(report.num_ready, 4U);
  EXPECT_LT(report.waited_s, 2.0);
}

TEST_F(StartRuleTest, OrWhenTheDelayHasPassedSinceTheFirstBatch) {
  auto started = start(std::chrono::seconds(2));
  clock_.advance(std::chrono::hours(1));  // before the first batch: does not count
  make_ready();
  EXPECT_TRUE(is_waiting(started));
  clock_.advance(std::chrono::milliseconds(1900));
  EXPECT_TRUE(is_waiting(started));
  clock_.advance(std::chrono::milliseconds(200));
  const StartReport report = started.get();
  EXPECT_EQ(report.num_ready, 1U);
  EXPECT_GE(report.waited_s, 2.0);
}

TEST_F(StartRuleTest, AFeedThatEndsEarlierDoesNotKeepTheTrainerWaiting) {
  auto started = start(std::chrono::seconds(2));
  make_ready();
  ring_.close();
  EXPECT_EQ(started.get().num_ready, 1U);
}

TEST(StartLinesTest, SayWhatIsWaitedForAndWhatWasReached) {
  EXPECT_EQ(waiting_line(std::chrono::seconds(2)),
            "  Waiting for the buffer, at most 2.0 s after the first batch ...");
  EXPECT_EQ(starting_line({.num_ready = 50, .buffer_size = 50, .waited_s = 0.7}),
            "Model training starting now (buffer 50/50, waited 0.7 s)");
}

}  // namespace
}  // namespace stoker::feed
