#include "stoker/base/thread/sync.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <new>
#include <optional>
#include <vector>

#include "stoker/base/error.h"
#include "tests/doubles/pct_scheduler.h"
#include "tests/doubles/refused_threads.h"
#include "tests/doubles/sanitizers.h"

namespace stoker {
namespace {

using std::chrono::milliseconds;

// A queue of one place, as a user of sync.h would write it.
class Slot {
 public:
  bool put(int value, const std::stop_token& stop) {
    Lock lock(mutex_);
    while (value_.has_value())
      if (changed_.wait(lock, stop) == WaitEnd::kStopped) return false;
    value_ = value;
    changed_.notify_all();
    return true;
  }
  std::optional<int> take(const std::stop_token& stop) {
    Lock lock(mutex_);
    while (!value_.has_value())
      if (changed_.wait(lock, stop) == WaitEnd::kStopped) return std::nullopt;
    std::optional<int> taken;
    taken.swap(value_);
    changed_.notify_all();
    return taken;
  }

 private:
  Mutex mutex_;
  ConditionVariable changed_;
  std::optional<int> value_ STOKER_GUARDED_BY(mutex_);
};

void move_three_values() {
  Slot slot;
  std::vector<int> taken;
  Thread consumer("consumer", [&](const std::stop_token& stop) {
    for (int i = 0; i < 3; ++i) taken.push_back(slot.take(stop).value_or(-1));
  });
  Thread producer("producer", [&](const std::stop_token& stop) {
    for (int i = 0; i < 3; ++i) slot.put(i, stop);
  });
  producer.join();
  consumer.join();
  EXPECT_EQ(taken, (std::vector<int>{0, 1, 2}));
}

TEST(SyncTest, ValuesPassInOrder) { move_three_values(); }

TEST(SyncTest, StopEndsAWaitThatNothingElseWould) {
  Slot slot;
  std::atomic<bool> was_stopped = false;
  {
    const Thread waiter(
        "waiter", [&](const std::stop_token& stop) { was_stopped = !slot.take(stop).has_value(); });
  }
  EXPECT_TRUE(was_stopped);
}

TEST(SyncTest, StopWinsOverANotification) {
  Mutex mutex;
  ConditionVariable changed;
  std::stop_source source;
  source.request_stop();
  Lock lock(mutex);
  EXPECT_EQ(changed.wait(lock, source.get_token()), WaitEnd::kStopped);
}

TEST(SyncTest, DeadlineEndsAWait) {
  Mutex mutex;
  ConditionVariable changed;
  const Deadline deadline = Deadline::after(system_clock(), milliseconds(20));
  Lock lock(mutex);
  while (changed.wait_until(lock, {}, deadline) != WaitEnd::kDeadline) {
  }
  EXPECT_GE(system_clock().now(), deadline.at);
}

TEST(SyncTest, ThreadsCarryTheirName) {
  std::array<char, 32> seen{};
  Thread thread("a-name-that-is-too-long", [&](const std::stop_token&) {
    pthread_getname_np(pthread_self(), seen.data(), seen.size());
  });
  thread.join();
  EXPECT_STREQ(seen.data(), "a-name-that-is-");
}

// The process really runs into a limit: no room is left for another stack.
void start_threads_without_memory() {
  const rlimit none{.rlim_cur = 0, .rlim_max = 0};
  setrlimit(RLIMIT_AS, &none);
  std::vector<Thread> held;
  try {
    for (int i = 0; i < 100; ++i)
      held.emplace_back("held", [](const std::stop_token& stop) {
        while (!stop.stop_requested()) std::this_thread::yield();
      });
  } catch (const MemoryError& error) {
    std::fputs(error.what(), stderr);
    std::_Exit(static_cast<int>(error.exit_code()));
  } catch (const std::bad_alloc&) {
    std::_Exit(99);
  }
  std::_Exit(0);
}

TEST(SyncDeathTest, AThreadWithoutRoomIsAnErrorWithItsName) {
  if (kUnderSanitizer) GTEST_SKIP() << "sanitizers need address space of their own";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(start_threads_without_memory(), testing::ExitedWithCode(5),
              "E-THREAD-START.*'held'.*Resource temporarily unavailable");
}

TEST(SyncTest, ARefusedThreadNeverRuns) {
  const RefusedThreads refused(1, 1);
  int num_run = 0;
  const auto count = [&](const std::stop_token&) { ++num_run; };
  { const Thread first("first", count); }
  EXPECT_THROW(Thread("second", count), MemoryError);
  { const Thread third("third", count); }
  EXPECT_EQ(num_run, 2);
}

TEST(SyncTest, ARefusedThreadIsNoPartOfASchedule) {
  PctScheduler scheduler({.seed = 1});
  scheduler.run([] {
    const RefusedThreads refused(0);
    EXPECT_THROW(Thread("first", [](const std::stop_token&) {}), MemoryError);
  });
}

TEST(SyncTest, TryLockRefusesWhatIsHeld) {
  Mutex mutex;
  bool second = false;
  {
    const Lock lock(mutex);
    Thread other("other", [&](const std::stop_token&) {
      if (!mutex.try_lock()) return;
      second = true;
      mutex.unlock();
    });
    other.join();
  }
  EXPECT_FALSE(second);
}

TEST(ScheduleTest, EqualKeysGiveEqualSchedules) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    PctScheduler first({.seed = seed});
    PctScheduler second({.seed = seed});
    first.run(move_three_values);
    second.run(move_three_values);
    EXPECT_EQ(first.trace_hash(), second.trace_hash());
    EXPECT_EQ(first.num_steps(), second.num_steps());
  }
}

TEST(ScheduleTest, SeedsReachManyDifferentSchedules) {
  const Exploration seen = explore_schedules(500, 1, [](PctScheduler&) { move_three_values(); });
  EXPECT_EQ(seen.num_schedules, 500U);
  EXPECT_GT(seen.num_distinct, 100U);
}

TEST(ScheduleTest, LostUpdateIsFound) {
  bool found = false;
  explore_schedules(200, 1, [&](PctScheduler&) {
    Mutex mutex;
    int count = 0;
    const auto add_one_badly = [&](const std::stop_token&) {
      int seen = 0;
      {
        const Lock lock(mutex);
        seen = count;
      }
      const Lock lock(mutex);
      count = seen + 1;
    };
    Thread first("first", add_one_badly);
    Thread second("second", add_one_badly);
    first.join();
    second.join();
    found = found || count == 1;
  });
  EXPECT_TRUE(found);
}

TEST(ScheduleTest, DeadlineWaitsEndInVirtualTime) {
  PctScheduler scheduler({.seed = 3});
  scheduler.run([&] {
    Mutex mutex;
    ConditionVariable never;
    const Deadline deadline = Deadline::after(scheduler.clock(), std::chrono::hours(10));
    Lock lock(mutex);
    while (never.wait_until(lock, {}, deadline) != WaitEnd::kDeadline) {
    }
    EXPECT_GE(scheduler.clock().now(), std::chrono::hours(10));
  });
}

TEST(ScheduleTest, StopReachesAManagedWait) {
  explore_schedules(100, 1, [](PctScheduler&) {
    Slot slot;
    bool got_value = true;
    {
      Thread waiter("waiter",
                    [&](const std::stop_token& stop) { got_value = slot.take(stop).has_value(); });
      waiter.request_stop();
    }
    EXPECT_FALSE(got_value);
  });
}

void lock_in_opposite_orders() {
  explore_schedules(500, 1, [](PctScheduler&) {
    Mutex left;
    Mutex right;
    Thread one("one", [&](const std::stop_token&) {
      const Lock first(left);
      const Lock second(right);
    });
    Thread two("two", [&](const std::stop_token&) {
      const Lock first(right);
      const Lock second(left);
    });
    one.join();
    two.join();
  });
}

TEST(ScheduleDeathTest, DeadlockIsReportedWithItsKey) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(lock_in_opposite_orders(),
               "deadlock after [0-9]+ steps, seed=[0-9]+ depth=3 expected_steps=[0-9]+");
}

void forget_to_notify() {
  explore_schedules(500, 1, [](PctScheduler&) {
    Mutex mutex;
    ConditionVariable changed;
    bool ready = false;
    Thread waiter("waiter", [&](const std::stop_token&) {
      Lock lock(mutex);
      while (!ready) changed.wait(lock, {});
    });
    {
      const Lock lock(mutex);
      ready = true;
    }
    waiter.join();
  });
}

TEST(ScheduleDeathTest, LostWakeUpIsReportedAsDeadlock) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(forget_to_notify(), "'waiter' waits to be notified");
}

}  // namespace
}  // namespace stoker
