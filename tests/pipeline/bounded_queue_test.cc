// The queue's contract: nothing lost after close, nothing taken after stop, bounds kept.
#include "stoker/pipeline/bounded_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

namespace stoker::pipeline {
namespace {

using std::chrono::milliseconds;

TEST(BoundedQueueTest, DrainsAfterCloseAndThenIsEmpty) {
  BoundedQueue<std::unique_ptr<int>> queue({.num_items = 4});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(queue.push(std::make_unique<int>(i), {}));
  queue.close();
  EXPECT_FALSE(queue.push(std::make_unique<int>(9), {}));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(**queue.pop({}), i);
  EXPECT_FALSE(queue.pop({}).has_value());
}

TEST(BoundedQueueTest, RefusesAfterStopEvenWithRoomAndItems) {
  BoundedQueue<int> queue({.num_items = 4});
  EXPECT_TRUE(queue.push(1, {}));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(queue.push(2, stop.get_token()));
  EXPECT_FALSE(queue.pop(stop.get_token()).has_value());
  EXPECT_EQ(*queue.pop({}), 1);
}

TEST(BoundedQueueTest, ByteLimitBlocksButAnOversizedItemPassesAlone) {
  BoundedQueue<int> queue({.num_items = 8, .size_bytes = 100});
  EXPECT_TRUE(queue.push(1, {}, 500));
  std::stop_source stop;
  std::atomic<bool> pushed = false;
  const Thread producer(
      "producer", [&](const std::stop_token&) { pushed = queue.push(2, stop.get_token(), 60); });
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_FALSE(pushed);
  EXPECT_EQ(queue.stats().size_bytes, 500U);
  EXPECT_EQ(*queue.pop({}), 1);
  EXPECT_EQ(*queue.pop({}), 2);
  EXPECT_EQ(queue.stats().size_bytes, 0U);
  EXPECT_GT(queue.stats().push_blocked.count() + queue.stats().pop_blocked.count(), 0);
}

// Four producers on two places, no consumer in a third of the rounds, ended by close or by stop.
TEST(BoundedQueueTest, TwoHundredShutdownsLoseNothingAndEndAtOnce) {
  for (int round = 0; round < 200; ++round) {
    BoundedQueue<int> queue({.num_items = 2});
    std::stop_source stop;
    std::atomic<int> accepted = 0;
    std::atomic<int> received = 0;
    std::vector<Thread> producers;
    for (int i = 0; i < 4; ++i) {
      producers.emplace_back("producer", [&](const std::stop_token&) {
        while (queue.push(1, stop.get_token())) ++accepted;
      });
    }
    Thread consumer;
    if (round % 3 != 0) {
      consumer = Thread("consumer", [&](const std::stop_token&) {
        while (queue.pop(stop.get_token())) ++received;
      });
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    const Stopwatch watch;
    if (round % 2 == 0) queue.close();
    if (round % 2 == 1) stop.request_stop();
    producers.clear();
    if (consumer.joinable()) consumer.join();
    EXPECT_LT(watch.seconds(), 0.5);
    queue.close();
    while (queue.pop({})) ++received;
    EXPECT_EQ(accepted, received) << "round " << round;
  }
}

}  // namespace
}  // namespace stoker::pipeline
