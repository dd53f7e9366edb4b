// Claims, endings and changes of depth, with one thread that plays worker and consumer.
#include "stoker/pipeline/slot_table.h"

#include <gtest/gtest.h>

namespace stoker::pipeline {
namespace {

class SlotTableTest : public testing::Test {
 protected:
  void fill_one() { table.put(table.claim(0)); }
  std::uint32_t take_one() {
    const std::uint32_t slot = ring.find_ready();
    ring.deliver(slot);
    ring.publish_head();
    return slot;
  }
  std::string text() const {
    return table.debug_string([](unsigned worker) { return "by " + std::to_string(worker); });
  }

  SlotRing ring{{.first_sequence = 10, .depth = 1, .max_depth = 3}};
  SlotTable table{ring};
};

TEST_F(SlotTableTest, ClaimsNumbersInOrderUntilDepthPlusOneAreAhead) {
  EXPECT_EQ(table.num_claimable(), 2U);
  EXPECT_EQ(table.claim(0).sequence, 10U);
  ASSERT_TRUE(table.can_claim());
  EXPECT_EQ(table.claim(0).sequence, 11U);
  EXPECT_FALSE(table.can_claim());
  EXPECT_EQ(table.num_claimable(), 0U);
}

TEST_F(SlotTableTest, WithoutFreeSlotsNothingIsClaimedUntilOneComesBack) {
  std::uint32_t first = 0;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(table.can_claim());
    fill_one();
    const std::uint32_t slot = take_one();
    if (i == 0) first = slot;
  }
  EXPECT_FALSE(table.can_claim());
  EXPECT_TRUE(ring.is_short_of_slots());
  EXPECT_TRUE(table.all_leased());
  ring.give_back(first);
  ASSERT_TRUE(table.can_claim());
  EXPECT_FALSE(ring.is_short_of_slots());
  EXPECT_EQ(table.claim(0).slot, first);
}

TEST_F(SlotTableTest, ADroppedClaimFreesItsSlotAndNotItsNumber) {
  const Ticket first = table.claim(0);
  table.drop(first);
  const Ticket second = table.claim(0);
  EXPECT_EQ(second.slot, first.slot);
  EXPECT_EQ(second.sequence, first.sequence + 1);
}

TEST_F(SlotTableTest, NothingIsClaimedFromWhereItIsClosed) {
  table.close_at(11);
  ASSERT_TRUE(table.can_claim());
  fill_one();
  EXPECT_FALSE(table.can_claim());
  table.close_at(20);
  EXPECT_FALSE(table.can_claim()) << "a later end does not undo an earlier one";
}

TEST_F(SlotTableTest, ALargerDepthOpensSlotsAndASmallerOneRetiresThem) {
  EXPECT_EQ(text(), "slot 0 free, slot 1 free, slot 2 free");
  table.set_depth(3);
  EXPECT_EQ(text(), "slot 0 free, slot 1 free, slot 2 free, slot 3 free, slot 4 free");
  for (int i = 0; i < 4; ++i) fill_one();
  for (int i = 0; i < 4; ++i) take_one();
  table.set_depth(1);
  for (std::uint32_t slot = 0; slot < 5; ++slot) ring.give_back(slot);
  table.collect_returned();
  EXPECT_EQ(text().find("slot 3"), std::string::npos);
  EXPECT_EQ(text().find("slot 4"), std::string::npos);
}

TEST_F(SlotTableTest, NamesWhatEverySlotIsDoing) {
  fill_one();
  static_cast<void>(table.claim(5));
  EXPECT_EQ(text(), "slot 0 ready (10), slot 1 by 5 (11), slot 2 free");
  take_one();
  EXPECT_EQ(text(), "slot 0 leased (10), slot 1 by 5 (11), slot 2 free");
}

}  // namespace
}  // namespace stoker::pipeline
