// Who is woken, who counts as asleep, and who is waited for at the end.
#include "stoker/pipeline/worker_set.h"

#include <gtest/gtest.h>

#include "tests/doubles/fake_clock.h"

namespace stoker::pipeline {
namespace {

// The worker that call_one() wakes, with what it claimed counted; all sleep before and after.
unsigned call_and_claim(WorkerSet& workers) {
  EXPECT_TRUE(workers.call_one());
  for (unsigned i = 0; i < workers.size(); ++i) {
    if (!workers.answer_call(i)) continue;
    workers.count_claim(i);
    workers.mark_idle(i);
    return i;
  }
  ADD_FAILURE() << "nobody was called";
  return 0;
}

TEST(WorkerSetTest, TheFirstEightShareEvenlyAndTheRestHelpWhenTheseAreBusy) {
  WorkerSet workers(10, 10);
  for (unsigned i = 0; i < 10; ++i) workers.mark_idle(i);
  std::vector<unsigned> claims(10);
  for (int i = 0; i < 80; ++i) ++claims[call_and_claim(workers)];
  EXPECT_EQ(claims, (std::vector<unsigned>{10, 10, 10, 10, 10, 10, 10, 10, 0, 0}));
  for (unsigned i = 0; i < 8; ++i) workers.mark_busy(i);
  EXPECT_EQ(call_and_claim(workers), 8U);
}

TEST(WorkerSetTest, ACallIsCountedUntilItIsAnswered) {
  WorkerSet workers(2, 2);
  EXPECT_FALSE(workers.call_one()) << "nobody sleeps";
  workers.mark_idle(1);
  EXPECT_TRUE(workers.call_one());
  EXPECT_EQ(workers.num_called(), 1U);
  EXPECT_EQ(workers.counts().num_idle, 0U) << "whoever is called counts as awake";
  EXPECT_FALSE(workers.call_one());
  EXPECT_TRUE(workers.answer_call(1));
  EXPECT_FALSE(workers.answer_call(1));
  EXPECT_EQ(workers.num_called(), 0U);
}

TEST(WorkerSetTest, OnlyThoseThatMayWorkCountAsAsleep) {
  WorkerSet workers(4, 4);
  for (const unsigned i : {0U, 2U, 3U}) workers.mark_idle(i);
  workers.mark_idle(3);
  EXPECT_EQ(workers.counts().num_idle, 3U);
  workers.set_num_workers(2);
  EXPECT_EQ(workers.counts().num_idle, 1U);
  EXPECT_FALSE(workers.may_work(2));
  workers.mark_busy(2);
  EXPECT_EQ(workers.counts().num_idle, 1U);
  workers.set_num_workers(9);
  EXPECT_EQ(workers.counts().num_workers, 4U);
  EXPECT_EQ(workers.counts().num_idle, 2U);
}

TEST(WorkerSetTest, AwaitsThoseThatBeganAndLeavesTheOneThatHangs) {
  FakeClock clock;
  Mutex mutex;
  WorkerSet workers(3, 3);
  workers.begin(0);
  workers.begin(1);
  const Thread other("end", [&](const std::stop_token& stop) {
    {
      const Lock lock(mutex);
      workers.end(0);
    }
    for (; !stop.stop_requested(); std::this_thread::yield())
      clock.advance(std::chrono::seconds(1));
  });
  Lock lock(mutex);
  EXPECT_EQ(workers.await_ends(lock, clock, std::chrono::seconds(1)),
            (std::vector<bool>{false, true, false}));
  EXPECT_TRUE(workers.has_ended(0));
  EXPECT_FALSE(workers.has_ended(2)) << "never began";
}

TEST(WorkerSetTest, WithoutALimitEveryEndIsAwaited) {
  const FakeClock clock;
  Mutex mutex;
  WorkerSet workers(1, 1);
  workers.begin(0);
  const Thread other("end", [&](const std::stop_token&) {
    const Lock lock(mutex);
    workers.end(0);
  });
  Lock lock(mutex);
  EXPECT_EQ(workers.await_ends(lock, clock, std::chrono::seconds(0)), std::vector<bool>{false});
}

}  // namespace
}  // namespace stoker::pipeline
