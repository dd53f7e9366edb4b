// Stalls are named before their limit is past, short ones are only counted, and nothing waits for
// them. Time passes only where a test lets it.
#include <gtest/gtest.h>

#include "stoker/pipeline/errors.h"
#include "stoker/pipeline/pipeline.h"
#include "tests/doubles/fake_clock.h"
#include "tests/pipeline/counting_filler.h"

namespace stoker::pipeline {
namespace {

using std::chrono::milliseconds;

// Looks again and again, for as long as a loaded machine may need.
template <class Condition>
bool comes_true(Condition condition) {
  for (int i = 0; i < 10'000 && !condition(); ++i) std::this_thread::sleep_for(milliseconds(1));
  return condition();
}

// Lets time pass while somebody waits for it.
Thread run_time(FakeClock& clock) {
  return Thread("time", [&clock](const std::stop_token& stop) {
    for (; !stop.stop_requested(); std::this_thread::yield()) clock.advance(milliseconds(50));
  });
}

TEST(StallTest, NamesStageFileAndSlotsAndLeavesTheWorkerBehind) {
  FakeClock clock;
  auto storage = std::make_shared<Gate>();  // used by a thread that outlives the test
  std::atomic<bool> is_back{false};
  auto filler = std::make_shared<CountingFiller>(100);
  filler->during = [&is_back, storage](FillContext& context, std::size_t stage) {
    if (context.sequence() != 3 || stage != 1) return;
    storage->wait();
    is_back = true;
  };
  {
    Thread time;  // still passes when the pipeline ends, which waits a while for its worker
    Pipeline pipeline(
        filler, {.num_workers = 2, .depth = 4, .stall_limit = milliseconds(400), .clock = &clock});
    for (std::uint64_t expected = 0; expected < 3; ++expected) {
      ASSERT_EQ(pipeline.next().sequence(), expected);
    }
    ASSERT_TRUE(comes_true([&] { return pipeline.stats().num_asleep == 1; }));
    time = run_time(clock);
    try {
      pipeline.next();
      FAIL() << "no stall noticed";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.error().code, &kPipeStall);
      EXPECT_EQ(failure.error().place.file, "file3");
      EXPECT_NE(failure.error().found.find("stage work"), std::string::npos);
      EXPECT_NE(failure.error().found.find("slot 0"), std::string::npos);
    }
  }
  EXPECT_FALSE(is_back) << "destruction waited for a worker that hangs";
  storage->open();  // it comes back, and what it uses is still there
  EXPECT_TRUE(comes_true([&] { return is_back.load(); }));
}

TEST(StallTest, AShortStallIsAbsorbedAndCounted) {
  FakeClock clock;
  Gate storage;
  auto filler = std::make_shared<CountingFiller>(30);
  filler->during = [&](FillContext& context, std::size_t stage) {
    if (context.sequence() == 10 && stage == 0) storage.wait();
  };
  Pipeline pipeline(
      filler, {.num_workers = 2, .depth = 4, .stall_limit = milliseconds(600), .clock = &clock});
  for (std::uint64_t expected = 0; expected < 10; ++expected) {
    ASSERT_EQ(pipeline.next().sequence(), expected);
  }
  ASSERT_TRUE(comes_true([&] { return pipeline.stats().num_asleep == 1; }));
  milliseconds passed{};
  ASSERT_TRUE(comes_true([&] {
    const milliseconds step{passed < milliseconds(400) ? 10 : 0};
    passed += step;
    clock.advance(step);
    return pipeline.stats().num_stage_stalls == 1;
  }));
  storage.open();
  for (std::uint64_t expected = 10; expected < 30; ++expected) {
    ASSERT_EQ(pipeline.next().sequence(), expected);
  }
  EXPECT_EQ(pipeline.stats().num_stage_stalls, 1U);
}

TEST(StallTest, ASlowConsumerIsNoStall) {
  FakeClock clock;
  auto filler = std::make_shared<CountingFiller>(5);
  Pipeline pipeline(
      filler, {.num_workers = 2, .depth = 1, .stall_limit = milliseconds(40), .clock = &clock});
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(comes_true([&] { return pipeline.stats().num_asleep == 2; }));
    for (int step = 0; step < 10; ++step, std::this_thread::yield()) clock.advance(milliseconds(6));
    ASSERT_TRUE(pipeline.next());
  }
  EXPECT_FALSE(pipeline.next());
}

TEST(StallTest, LimitZeroTurnsTheWatchdogOff) {
  FakeClock clock;
  auto filler = std::make_shared<CountingFiller>(3);
  filler->during = [&](FillContext&, std::size_t) { clock.advance(std::chrono::hours(1)); };
  Pipeline pipeline(filler, {.num_workers = 1, .stall_limit = milliseconds(0), .clock = &clock});
  EXPECT_TRUE(pipeline.next());
  EXPECT_TRUE(pipeline.next());
  EXPECT_TRUE(pipeline.next());
  EXPECT_FALSE(pipeline.next());
  EXPECT_EQ(pipeline.stats().num_stage_stalls, 0U);
}

}  // namespace
}  // namespace stoker::pipeline
