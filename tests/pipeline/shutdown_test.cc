// Two hundred ways to end a running pipeline, each without a trace.
#include <gtest/gtest.h>

#include "stoker/base/error.h"
#include "stoker/base/philox.h"
#include "stoker/pipeline/pipeline.h"
#include "tests/doubles/fake_clock.h"
#include "tests/pipeline/counting_filler.h"

namespace stoker::pipeline {
namespace {

// Time does not move here: no end may wait for a limit to pass.
TEST(ShutdownTest, TwoHundredRoundsOfEndCancelErrorAndDestruction) {
  KeyedDraws draws({1, "test/shutdown", 0, 0});
  for (int round = 0; round < 200; ++round) {
    auto filler = std::make_shared<CountingFiller>(draws.next_below(40));
    const std::uint64_t bad = draws.next_below(80);
    filler->during = [bad](FillContext& context, std::size_t stage) {
      if (context.sequence() == bad && stage == bad % 3) throw std::runtime_error("planted");
      std::this_thread::sleep_for(std::chrono::microseconds(context.sequence() % 5 * 20));
    };
    const auto num_workers = static_cast<unsigned>(draws.next_below(9));
    const auto depth = static_cast<unsigned>(1 + draws.next_below(8));
    const std::uint64_t taken = draws.next_below(45);
    const bool cancel = draws.next_below(3) == 0;
    const FakeClock clock;
    std::weak_ptr<CountingFiller> trace = filler;
    {
      Pipeline pipeline(std::move(filler),
                        {.num_workers = num_workers, .depth = depth, .clock = &clock});
      try {
        for (std::uint64_t i = 0; i < taken && pipeline.next(); ++i) {
        }
      } catch (const Failure& failure) {
        EXPECT_EQ(failure.error().found, "planted");
      }
      if (cancel) pipeline.cancel();
    }
    EXPECT_TRUE(trace.expired()) << "something still holds the filler of round " << round;
  }
}

}  // namespace
}  // namespace stoker::pipeline
