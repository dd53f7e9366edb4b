// Stalls are named within their limit, short ones are only counted, and nothing waits for them.
#include <gtest/gtest.h>

#include "stoker/pipeline/errors.h"
#include "stoker/pipeline/pipeline.h"
#include "tests/pipeline/counting_filler.h"

namespace stoker::pipeline {
namespace {

using std::chrono::milliseconds;

// Sleeps without looking at the stop token, as a read from dead storage does.
void hang_in_the_kernel(milliseconds time) { std::this_thread::sleep_for(time); }

TEST(StallTest, NamesStageFileAndSlotsWithinTheLimit) {
  auto filler = std::make_shared<CountingFiller>(100);
  filler->during = [](FillContext& context, std::size_t stage) {
    if (context.sequence() == 3 && stage == 1) hang_in_the_kernel(milliseconds(2600));
  };
  Stopwatch ended;
  {
    Pipeline pipeline(filler, {.num_workers = 2, .depth = 4, .stall_limit = milliseconds(400)});
    const Stopwatch watch;
    for (std::uint64_t expected = 0; expected < 3; ++expected) {
      ASSERT_EQ(pipeline.next().sequence(), expected);
    }
    try {
      pipeline.next();
      FAIL() << "no stall noticed";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.error().code, &kPipeStall);
      EXPECT_EQ(failure.error().place.file, "file3");
      EXPECT_NE(failure.error().found.find("stage work"), std::string::npos);
      EXPECT_NE(failure.error().found.find("slot 0"), std::string::npos);
    }
    EXPECT_LT(watch.seconds(), 0.6);
    ended = Stopwatch();
  }
  EXPECT_LT(ended.seconds(), 2.0) << "destruction waits for a hanging worker";
  hang_in_the_kernel(milliseconds(1500));  // it comes back, and what it uses is still there
}

TEST(StallTest, AShortStallIsAbsorbedAndCounted) {
  auto filler = std::make_shared<CountingFiller>(30);
  filler->during = [](FillContext& context, std::size_t stage) {
    if (context.sequence() == 10 && stage == 0) hang_in_the_kernel(milliseconds(250));
  };
  Pipeline pipeline(filler, {.num_workers = 2, .depth = 4, .stall_limit = milliseconds(600)});
  for (std::uint64_t expected = 0; expected < 30; ++expected) {
    ASSERT_EQ(pipeline.next().sequence(), expected);
  }
  EXPECT_EQ(pipeline.stats().num_stage_stalls, 1U);
}

TEST(StallTest, ASlowConsumerIsNoStall) {
  auto filler = std::make_shared<CountingFiller>(5);
  Pipeline pipeline(filler, {.num_workers = 2, .depth = 1, .stall_limit = milliseconds(40)});
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(milliseconds(60));
    ASSERT_TRUE(pipeline.next());
  }
  EXPECT_FALSE(pipeline.next());
}

TEST(StallTest, LimitZeroTurnsTheWatchdogOff) {
  auto filler = std::make_shared<CountingFiller>(3);
  filler->during = [](FillContext& context, std::size_t stage) {
    if (context.sequence() == 1 && stage == 0) hang_in_the_kernel(milliseconds(150));
  };
  Pipeline pipeline(filler, {.num_workers = 1, .stall_limit = milliseconds(0)});
  EXPECT_TRUE(pipeline.next());
  EXPECT_TRUE(pipeline.next());
  EXPECT_TRUE(pipeline.next());
  EXPECT_FALSE(pipeline.next());
}

}  // namespace
}  // namespace stoker::pipeline
