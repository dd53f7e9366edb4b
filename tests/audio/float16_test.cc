// Conversions to 16-bit floats, checked over every value there is.
#include "stoker/audio/float16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace stoker::audio {
namespace {

TEST(Float16Test, EveryFiniteF16SurvivesTheRoundTrip) {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const auto narrow = static_cast<std::uint16_t>(bits);
    if ((narrow & 0x7C00U) == 0x7C00U) continue;
    ASSERT_EQ(f16_bits(f16_value(narrow)), narrow);
  }
}

TEST(Float16Test, HalfwayGoesToTheEvenNeighbour) {
  for (std::uint16_t bits = 0; bits < 0x7BFFU; ++bits) {
    const double low = f16_value(bits);
    const double high = f16_value(static_cast<std::uint16_t>(bits + 1));
    const auto middle = static_cast<float>((low + high) / 2.0);
    const std::uint16_t even = bits % 2 == 0 ? bits : static_cast<std::uint16_t>(bits + 1);
    ASSERT_EQ(f16_bits(middle), even);
    ASSERT_EQ(f16_bits(std::nextafter(middle, 0.0F)), bits);
    ASSERT_EQ(f16_bits(-std::nextafter(middle, 1e9F)), 0x8000U | (bits + 1U));
  }
}

TEST(Float16Test, ProcessorsRuleMakesLargeValuesInfinite) {
  for (const auto& [value, bits] : {std::pair{65504.0F, 0x7BFF},
                                    {65519.996F, 0x7BFF},
                                    {65520.0F, 0x7C00},
                                    {1e9F, 0x7C00},
                                    {-65520.0F, 0xFC00}}) {
    EXPECT_EQ(f16_bits_or_infinity(value), bits) << value;
  }
}

TEST(Float16Test, BothRulesAgreeUpToTheLargestValue) {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const float value = f16_value(static_cast<std::uint16_t>(bits));
    if (std::abs(value) <= kLargestF16) {
      ASSERT_EQ(f16_bits_or_infinity(value), f16_bits(value)) << bits;
    }
  }
}

TEST(Float16Test, WhatIsNotANumberStaysSo) {
  for (const std::uint32_t bits : {0x7F800001U, 0x7FC00000U, 0xFF812345U}) {
    const auto value = std::bit_cast<float>(bits);
    EXPECT_TRUE(std::isnan(f16_value(f16_bits(value)))) << bits;
    EXPECT_TRUE(std::isnan(f16_value(f16_bits_or_infinity(value)))) << bits;
    EXPECT_TRUE(std::isnan(bf16_value(bf16_bits(value)))) << bits;
  }
}

TEST(Float16Test, LargeValuesSaturate) {
  EXPECT_EQ(f16_value(f16_bits(1e9F)), 65504.0F);
  EXPECT_EQ(f16_value(f16_bits(-std::numeric_limits<float>::infinity())), -65504.0F);
}

TEST(Float16Test, Bf16RoundsToNearestEven) {
  EXPECT_EQ(bf16_value(bf16_bits(1.0F)), 1.0F);
  EXPECT_EQ(bf16_bits(1.00390625F), 0x3F80U);  // halfway, the even one is below
  EXPECT_EQ(bf16_bits(1.01171875F), 0x3F82U);  // halfway, the even one is above
  EXPECT_EQ(bf16_bits(-11.5129F), 0xC138U);
}

}  // namespace
}  // namespace stoker::audio
