// A wait that is interrupted now and then: for Ctrl-C, a limit of time, or to say what it waits
// for.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "stoker/pipeline/errors.h"
#include "stoker/pipeline/pipeline.h"
#include "tests/pipeline/counting_filler.h"

namespace stoker::pipeline {
namespace {

using std::chrono::milliseconds;

// The first slot comes only when it is let go.
std::shared_ptr<CountingFiller> held_filler(std::atomic<bool>& let_go) {
  auto filler = std::make_shared<CountingFiller>(20);
  filler->during = [&let_go](FillContext& context, std::size_t) {
    while (!let_go && !context.stop().stop_requested()) std::this_thread::yield();
  };
  return filler;
}

TEST(WaitPauseTest, EndsTheWaitAndLosesNothing) {
  for (const unsigned num_workers : {1U, 3U}) {
    std::atomic<bool> let_go{false};
    Pipeline pipeline(held_filler(let_go), {.num_workers = num_workers, .depth = 4});
    int num_pauses = 0;
    const WaitPause pause{milliseconds(2), [&] { return ++num_pauses % 3 != 0; }};
    EXPECT_FALSE(pipeline.next({}, &pause));
    EXPECT_FALSE(pipeline.next({}, &pause));
    EXPECT_EQ(num_pauses, 6);
    EXPECT_EQ(pipeline.ending(), Ending::kNone);
    let_go = true;
    for (std::uint64_t expected = 0; expected < 20; ++expected) {
      const SlotLease lease = pipeline.next();
      ASSERT_TRUE(lease);
      ASSERT_EQ(lease.sequence(), expected);
    }
    EXPECT_FALSE(pipeline.next());
    EXPECT_EQ(pipeline.ending(), Ending::kEnd);
  }
}

TEST(WaitPauseTest, ComesAgainUntilTheSlotDoes) {
  std::atomic<bool> let_go{false};
  Pipeline pipeline(held_filler(let_go), {.num_workers = 1, .depth = 2});
  int num_pauses = 0;
  const WaitPause pause{milliseconds(1), [&] {
                          let_go = ++num_pauses >= 5;
                          return true;
                        }};
  EXPECT_TRUE(pipeline.next({}, &pause));
  EXPECT_GE(num_pauses, 5);
}

// The limit for a consumer that holds everything counts over all pauses of a wait.
TEST(WaitPauseTest, DoesNotHideThatEveryLeaseIsHeld) {
  Pipeline pipeline(
      std::make_shared<CountingFiller>(50),
      {.num_workers = 1, .depth = 1, .max_depth = 1, .stall_limit = milliseconds(60)});
  std::vector<SlotLease> held;
  const WaitPause pause{milliseconds(5), [] { return true; }};
  try {
    for (;;) held.push_back(pipeline.next({}, &pause));
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code->name, "E-PIPE-LEASES");
  }
  EXPECT_EQ(held.size(), 3U);
}

}  // namespace
}  // namespace stoker::pipeline
