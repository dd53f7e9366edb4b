#include "stoker/base/philox.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

// The vectors published with Random123.
TEST(PhiloxTest, PublishedVectors) {
  EXPECT_EQ(philox4x32_10({0, 0, 0, 0}, {0, 0}),
            (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32_10({~0U, ~0U, ~0U, ~0U}, {~0U, ~0U}),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(KeyedDrawsTest, EqualKeysGiveEqualStreamsAndOtherKeysDoNot) {
  KeyedDraws a({42, "noise", 3, 99});
  KeyedDraws b({42, "noise", 3, 99});
  KeyedDraws other_stage({42, "gain", 3, 99});
  KeyedDraws other_epoch({42, "noise", 4, 99});
  const std::uint64_t first = a.next_u64();
  EXPECT_EQ(first, b.next_u64());
  EXPECT_NE(first, other_stage.next_u64());
  EXPECT_NE(first, other_epoch.next_u64());
}

TEST(KeyedDrawsTest, BoundedDrawsStayInsideAndReachEveryValue) {
  KeyedDraws draws({1, "bounds", 0, 0});
  std::array<int, 7> seen{};
  for (int i = 0; i < 7000; ++i) ++seen.at(draws.next_below(7));
  for (const int count : seen) EXPECT_NEAR(count, 1000, 150);
}

TEST(KeyedDrawsTest, UnitDrawsAreInTheHalfOpenInterval) {
  KeyedDraws draws({1, "unit", 0, 0});
  double sum = 0;
  for (int i = 0; i < 10000; ++i) {
    const double draw = draws.next_unit();
    ASSERT_GE(draw, 0.0);
    ASSERT_LT(draw, 1.0);
    sum += draw;
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.02);
}

}  // namespace
}  // namespace stoker
