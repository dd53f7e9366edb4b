// The stand-in for a trainer counts what it takes and what it waits for.
#include "stoker/observe/feed_consumer.h"

#include <gtest/gtest.h>

#include <chrono>

#include "stoker/observe/calibration_loop.h"
#include "stoker/observe/resource_use.h"
#include "tests/doubles/fake_clock.h"

namespace stoker::observe {
namespace {

// A clock that moves a little with every look, so that a wait for a moment ends.
class TickingClock final : public Clock {
 public:
  static constexpr std::chrono::microseconds kTick{100};

  std::chrono::nanoseconds now() const override {
    clock_.advance(kTick);
    return clock_.now();
  }
  std::int64_t unix_time_ns() const override { return clock_.unix_time_ns(); }

 private:
  mutable FakeClock clock_;
};

// Batches of three clips after a pause; an epoch has four.
class PausingSource final : public BatchSource {
 public:
  explicit PausingSource(std::uint64_t num_batches) : num_batches_(num_batches) {}
  PausingSource(std::uint64_t num_batches, FakeClock& clock, std::chrono::microseconds pause)
      : num_batches_(num_batches), clock_(&clock), pause_(pause) {}

  std::optional<TakenBatch> take(const std::stop_token&) override {
    if (taken_ == num_batches_) return std::nullopt;
    if (clock_ != nullptr) clock_->advance(pause_);
    ++taken_;
    TakenBatch batch{{.num_batches = 1, .num_clips = 3, .true_frames = 30, .all_frames = 40}};
    batch.is_last_of_epoch = taken_ % 4 == 0;
    return batch;
  }
  std::uint64_t taken() const { return taken_; }

 private:
  std::uint64_t num_batches_;
  FakeClock* clock_ = nullptr;
  std::chrono::microseconds pause_{};
  std::uint64_t taken_ = 0;
};

TEST(FeedConsumerTest, CountsEveryBatchOnce) {
  PausingSource source(10);
  const ConsumerReport report = run_consumer(source, {.seconds = 60});
  EXPECT_EQ(report.num_batches, 10U);
  EXPECT_EQ(report.num_clips, 30U);
  EXPECT_DOUBLE_EQ(report.padding_share(), 0.25);
  EXPECT_EQ(report.intervals_s.size(), 9U);
  EXPECT_EQ(report.epoch_ends, (std::vector<std::uint64_t>{3, 7}));
}

TEST(FeedConsumerTest, LeavesTheWarmUpOut) {
  PausingSource source(10);
  const ConsumerReport report = run_consumer(source, {.warm_batches = 4, .seconds = 60});
  EXPECT_EQ(report.num_batches, 6U);
}

TEST(FeedConsumerTest, EndsAfterAsManyBatchesAsAsked) {
  PausingSource source(100);
  EXPECT_EQ(run_consumer(source, {.seconds = 60, .max_batches = 5}).num_batches, 5U);
  EXPECT_EQ(source.taken(), 5U);
}

TEST(FeedConsumerTest, WaitingForTheSourceIsStall) {
  FakeClock clock;
  PausingSource source(20, clock, std::chrono::milliseconds(2));
  const ConsumerReport report = run_consumer(source, {.seconds = 60, .clock = &clock});
  EXPECT_NEAR(report.wait_s, 20 * 0.002, 1e-9);
  EXPECT_NEAR(report.stall_share(), 1, 1e-6);
}

TEST(FeedConsumerTest, TheTimeOfAStepIsNotStall) {
  const TickingClock clock;
  PausingSource source(20);
  const ConsumerReport report =
      run_consumer(source, {.step_s = 0.003, .seconds = 60, .clock = &clock});
  EXPECT_GE(report.wall_s, 20 * 0.003);
  EXPECT_LT(report.stall_share(), 0.2);
  for (const double interval_s : report.intervals_s) EXPECT_NEAR(interval_s, 0.003, 0.0005);
}

TEST(CalibrationLoopTest, NeverRunsFasterThanItsCalmest) {
  CalibrationLoop loop;
  for (int i = 0; i < 3; ++i) EXPECT_GE(loop.drift(), 0.0);
  EXPECT_GT(loop.calmest_s(), 0.0);
}

TEST(ProcessMemoryTest, SeesMemoryThatIsTouched) {
  constexpr std::size_t kBytes = std::size_t{32} << 20U;
  const ProcessMemory before = process_memory(system_io());
  const std::vector<char> touched(kBytes, 1);
  const ProcessMemory after = process_memory(system_io());
  EXPECT_GT(before.anonymous_bytes, 0U);
  EXPECT_GE(after.held_bytes(), before.held_bytes() + kBytes / 2);
  EXPECT_EQ(touched.back(), 1);
  EXPECT_GT(proportional_bytes(system_io()), kBytes / 2);
}

}  // namespace
}  // namespace stoker::observe
