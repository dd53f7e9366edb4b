// The parts with which consumer and workers hand slots to each other without a lock.
#include <gtest/gtest.h>

#include <numeric>

#include "stoker/base/thread/sync.h"
#include "stoker/pipeline/ready_ring.h"
#include "stoker/pipeline/returned_slots.h"
#include "stoker/pipeline/wake_request.h"

namespace stoker::pipeline {
namespace {

TEST(ReadyRingTest, FindsASlotUnderItsNumberAlone) {
  ReadyRing ring(4);
  EXPECT_EQ(ring.find(0), ReadyRing::kNotReady);
  ring.put(5, 2);
  EXPECT_EQ(ring.find(5), 2U);
  EXPECT_EQ(ring.find(1), ReadyRing::kNotReady) << "the same place, a round before";
  EXPECT_EQ(ring.find(9), ReadyRing::kNotReady) << "and a round after";
  ring.put(9, 0);
  EXPECT_EQ(ring.find(9), 0U);
  EXPECT_EQ(ring.find(5), ReadyRing::kNotReady);
}

TEST(ReadyRingTest, LargeNumbersAreTold) {
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

class CountingBell final : public WakeRequest {
 public:
  int num_answers = 0;

 private:
  void answer() override {
    silence();
    ++num_answers;
  }
};

TEST(HelpBellTest, IsAnsweredOnceAndTellsARingThatNobodyHeard) {
  CountingBell bell;
  bell.answer_if_rung();
  EXPECT_EQ(bell.num_answers, 0);
  EXPECT_FALSE(bell.ring());
  EXPECT_TRUE(bell.ring()) << "nobody came";
  bell.answer_if_rung();
  bell.answer_if_rung();
  EXPECT_EQ(bell.num_answers, 1);
  EXPECT_FALSE(bell.ring());
}

}  // namespace
}  // namespace stoker::pipeline
