#include "stoker/base/simd_level.h"

#include <gtest/gtest.h>

#include <array>

namespace stoker {
namespace {

TEST(SimdLevelTest, SettingLowersButNeverRaisesTheLevel) {
  EXPECT_EQ(choose_simd_level(std::nullopt, SimdLevel::kAvx512).take_or_raise(),
            SimdLevel::kAvx512);
  EXPECT_EQ(choose_simd_level("avx2", SimdLevel::kAvx512).take_or_raise(), SimdLevel::kAvx2);
  EXPECT_EQ(choose_simd_level("scalar", SimdLevel::kNeon).take_or_raise(), SimdLevel::kScalar);
  EXPECT_FALSE(choose_simd_level("avx512", SimdLevel::kAvx2).ok());
}

TEST(SimdLevelTest, WrongNameListsTheAllowedOnes) {
  const Result<SimdLevel> chosen = choose_simd_level("sse9", SimdLevel::kAvx2);
  ASSERT_FALSE(chosen.ok());
  EXPECT_EQ(error_line(chosen.error()),
            "error[E-SIMD-LEVEL]: expected one of auto, scalar, avx2 for STOKER_SIMD on this "
            "processor, found \"sse9\"");
}

}  // namespace
}  // namespace stoker
