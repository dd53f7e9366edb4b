// The parts with which consumer and workers hand slots to each other without a lock.
#include "stoker/pipeline/slot_ring.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "stoker/base/thread/sync.h"
#include "stoker/pipeline/ready_ring.h"
#include "stoker/pipeline/returned_slots.h"
#include "tests/doubles/pct_scheduler.h"

namespace stoker::pipeline {
namespace {

TEST(ReadyRingTest, FindsASlotUnderItsNumberAlone) {
  ReadyRing ring(4);
  EXPECT_EQ(ring.find(0), ReadyRing::kNotReady);
  ring.put(5, 2);
  EXPECT_EQ(ring.find(5), 2U);
  EXPECT_EQ(ring.find(1), ReadyRing::kNotReady) << "the same entry, a round before";
  EXPECT_EQ(ring.find(9), ReadyRing::kNotReady) << "and a round after";
  ring.put(9, 0);
  EXPECT_EQ(ring.find(9), 0U);
  EXPECT_EQ(ring.find(5), ReadyRing::kNotReady);
}

TEST(ReadyRingTest, LargeNumbersAreToldApart) {
  ReadyRing ring(4);
  const std::uint64_t large = (std::uint64_t{1} << 32U) - 1;
  ring.put(large, 3);
  ring.put(large + 1, 1);
  EXPECT_EQ(ring.find(large), 3U);
  EXPECT_EQ(ring.find(large + 1), 1U);
  EXPECT_EQ(ring.find(large + 4), ReadyRing::kNotReady);
}

TEST(ReturnedSlotsTest, EveryOneGivenIsTakenOnce) {
  constexpr std::uint32_t kSlots = 100;
  constexpr unsigned kGivers = 4;
  ReturnedSlots slots(kSlots);
  std::vector<unsigned> taken(kSlots);
  const auto take = [&] { slots.take_all(kSlots, [&](std::uint32_t slot) { ++taken[slot]; }); };
  {
    std::vector<Thread> givers;
    for (unsigned giver = 0; giver < kGivers; ++giver) {
      givers.emplace_back("give", [&slots, giver](const std::stop_token&) {
        for (std::uint32_t slot = giver; slot < kSlots; slot += kGivers) slots.give(slot);
      });
    }
    while (std::accumulate(taken.begin(), taken.end(), 0U) < kSlots) take();
  }
  take();
  EXPECT_EQ(taken, std::vector<unsigned>(kSlots, 1));
}

TEST(SlotRingTest, DeliversByNumberInWhateverOrderSlotsArePut) {
  SlotRing ring({.first_sequence = 7, .depth = 4, .max_depth = 4});
  EXPECT_EQ(ring.claim_number(), 7U);
  EXPECT_EQ(ring.claim_number(), 8U);
  ring.put({8, 0});
  EXPECT_EQ(ring.find_ready(), ReadyRing::kNotReady);
  ring.put({7, 3});
  ASSERT_EQ(ring.find_ready(), 3U);
  EXPECT_EQ(ring.deliver(3).sequence, 7U);
  ASSERT_EQ(ring.find_ready(), 0U);
  EXPECT_EQ(ring.deliver(0).sequence, 8U);
  EXPECT_EQ(ring.num_delivered(), 2U);
}

TEST(SlotRingTest, HasRoomForDepthPlusOneBeyondThePublishedHead) {
  SlotRing ring({.first_sequence = 0, .depth = 2, .max_depth = 4});
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(ring.has_room());
    ring.put({ring.claim_number(), i});
  }
  EXPECT_FALSE(ring.has_room());
  EXPECT_EQ(ring.num_ready(), 3U);
  ring.deliver(ring.find_ready());
  EXPECT_FALSE(ring.has_room()) << "taken, and not published";
  EXPECT_EQ(ring.num_ready(), 3U);
  ring.publish_head();
  EXPECT_TRUE(ring.has_room());
  EXPECT_EQ(ring.num_ready(), 2U);
  ring.set_depth(1);
  EXPECT_FALSE(ring.has_room());
}

TEST(SlotRingTest, AnEighthOfTheDepthIsAGroup) {
  SlotRing ring({.first_sequence = 0, .depth = 32, .max_depth = 32});
  for (std::uint32_t i = 0; i < 4; ++i) ring.put({ring.claim_number(), i});
  for (std::uint64_t i = 0; i < 4; ++i) {
    const Ticket taken = ring.deliver(ring.find_ready());
    EXPECT_EQ(ring.is_group_taken(taken.sequence), i == 3) << i;
  }
}

TEST(SlotRingTest, ASlotGivenBackIsTakenOnce) {
  SlotRing ring({.first_sequence = 0, .depth = 2, .max_depth = 2});
  ring.give_back(3);
  std::vector<std::uint32_t> taken;
  const auto take = [&](std::uint32_t slot) { taken.push_back(slot); };
  ring.take_returned(3, take);
  EXPECT_TRUE(taken.empty()) << "beyond the slots asked for";
  ring.take_returned(4, take);
  ring.take_returned(4, take);
  EXPECT_EQ(taken, std::vector<std::uint32_t>{3});
}

constexpr unsigned kDepth = 2;
constexpr std::uint64_t kItems = 6;

// The counts are read without a lock while both sides move them: they may be old, but never wrap.
TEST(SlotRingTest, CountsDoNotWrapInAnySchedule) {
  explore_schedules(2000, 1, [](PctScheduler&) {
    SlotRing ring({.first_sequence = 0, .depth = kDepth, .max_depth = kDepth});
    Mutex mutex;
    ConditionVariable changed;
    const Thread worker("worker", [&](const std::stop_token&) {
      for (std::uint64_t i = 0; i < kItems; ++i) {
        Lock lock(mutex);
        while (!ring.has_room()) changed.wait(lock, {});
        const std::uint64_t number = ring.claim_number();
        ring.put({number, static_cast<std::uint32_t>(number % (kDepth + 1))});
        changed.notify_all();
      }
    });
    const Thread reader("reader", [&](const std::stop_token&) {
      for (int i = 0; i < 8; ++i) {
        EXPECT_LE(ring.num_ready(), kItems);
        schedule_point();
      }
    });
    for (std::uint64_t expected = 0; expected < kItems; ++expected) {
      std::uint32_t slot = ring.find_ready();
      if (slot == ReadyRing::kNotReady) {
        Lock lock(mutex);
        while ((slot = ring.find_ready()) == ReadyRing::kNotReady) changed.wait(lock, {});
      }
      ASSERT_EQ(slot, expected % (kDepth + 1));
      ASSERT_EQ(ring.deliver(slot).sequence, expected);
      ring.publish_head();
      const Lock lock(mutex);
      changed.notify_all();
    }
  });
}

}  // namespace
}  // namespace stoker::pipeline
