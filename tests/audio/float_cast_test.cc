#include "stoker/audio/float_cast.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "stoker/audio/float16.h"
#include "tests/audio/back_end.h"

namespace stoker::audio {
namespace {

using config::MelDtype;

class FloatCastTest : public BackEndTest {
 protected:
  // `skip`: first value to take, so that vectors of the device are unaligned.
  template <class To, class From>
  std::vector<To> cast(const std::vector<From>& from, MelDtype from_type, MelDtype to_type,
                       std::size_t skip = 0) {
    const std::size_t count = from.size() - skip;
    std::vector<To> to(count);
    if (!is_on_gpu()) {
      cast_floats({from.data() + skip, from_type, to.data(), to_type, count});
      return to;
    }
    const GuardedArray<From> in{std::span<const From>(from)};
    const GuardedArray<To> out(count);
    const cuda::Stream stream(0);
    cast_floats({in.data() + skip, from_type, out.data(), to_type, count}, stream);
    stream.synchronize();
    EXPECT_TRUE(out.has_whole_guards());
    return out.values();
  }
};

std::vector<std::uint16_t> every_pattern() {
  std::vector<std::uint16_t> patterns(0x10000);
  for (std::size_t i = 0; i < patterns.size(); ++i) patterns[i] = static_cast<std::uint16_t>(i);
  return patterns;
}

// Patterns of f32 over the whole range, with the neighbours of every 16-bit value's middle.
std::vector<float> many_floats() {
  std::vector<float> values;
  for (std::uint32_t bits = 0; bits < 0xFFFF0000U; bits += 4099) {
    const auto value = std::bit_cast<float>(bits);
    if (!std::isnan(value)) values.push_back(value);
  }
  for (std::uint32_t half = 0; half < 0x7C00U; ++half) {
    const auto bits = std::bit_cast<std::uint32_t>(f16_value(static_cast<std::uint16_t>(half)));
    for (const std::uint32_t middle : {bits + 0x0FFFU, bits + 0x1000U, bits + 0x1001U})
      values.push_back(std::bit_cast<float>(middle));
  }
  return values;
}

TEST_P(FloatCastTest, EveryF16AndBf16WidensExactly) {
  const std::vector<std::uint16_t> patterns = every_pattern();
  const auto f16 = cast<std::uint32_t>(patterns, MelDtype::kF16, MelDtype::kF32);
  const auto bf16 = cast<std::uint32_t>(patterns, MelDtype::kBf16, MelDtype::kF32);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    ASSERT_EQ(f16[i], std::bit_cast<std::uint32_t>(f16_value(patterns[i])));
    ASSERT_EQ(bf16[i], std::bit_cast<std::uint32_t>(bf16_value(patterns[i])));
  }
}

TEST_P(FloatCastTest, NarrowingRoundsToNearestEven) {
  const std::vector<float> values = many_floats();
  const auto f16 = cast<std::uint16_t>(values, MelDtype::kF32, MelDtype::kF16);
  const auto bf16 = cast<std::uint16_t>(values, MelDtype::kF32, MelDtype::kBf16);
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(f16[i], f16_bits(values[i])) << values[i];
    ASSERT_EQ(bf16[i], bf16_bits(values[i])) << values[i];
  }
}

TEST_P(FloatCastTest, BetweenTheNarrowTypesGoesByWayOfF32) {
  const std::vector<std::uint16_t> patterns = every_pattern();
  const auto to_bf16 = cast<std::uint16_t>(patterns, MelDtype::kF16, MelDtype::kBf16);
  const auto to_f16 = cast<std::uint16_t>(patterns, MelDtype::kBf16, MelDtype::kF16);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const float f16 = f16_value(patterns[i]), bf16 = bf16_value(patterns[i]);
    ASSERT_EQ(to_bf16[i], std::isnan(f16) ? 0x7FC0 : bf16_bits(f16));
    ASSERT_EQ(to_f16[i], std::isnan(bf16) ? 0x7E00 : f16_bits(bf16));
  }
}

TEST_P(FloatCastTest, InfinitySaturatesInF16AndNotANumberStays) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values{kInfinite, -kInfinite, kNotANumber, -kNotANumber,
                                  std::bit_cast<float>(0x7F800001U)};
  const auto f16 = cast<std::uint16_t>(values, MelDtype::kF32, MelDtype::kF16);
  const auto bf16 = cast<std::uint16_t>(values, MelDtype::kF32, MelDtype::kBf16);
  EXPECT_EQ(f16, (std::vector<std::uint16_t>{0x7BFF, 0xFBFF, 0x7E00, 0x7E00, 0x7E00}));
  EXPECT_EQ(bf16, (std::vector<std::uint16_t>{0x7F80, 0xFF80, 0x7FC0, 0x7FC0, 0x7FC0}));
}

TEST_P(FloatCastTest, AnyCountAndAnyPlaceGiveTheSameValues) {
  std::vector<float> values(2061);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = -11.5F + 0.007F * static_cast<float>(i);
  for (const std::size_t count : {1U, 7U, 8U, 9U, 2048U, 2049U, 2061U}) {
    const std::vector<float> part(values.begin(), values.begin() + static_cast<long>(count));
    for (const std::size_t skip : {0U, 1U}) {
      const auto f16 = cast<std::uint16_t>(part, MelDtype::kF32, MelDtype::kF16, skip);
      for (std::size_t i = 0; i < f16.size(); ++i) ASSERT_EQ(f16[i], f16_bits(part[i + skip]));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(BackEnds, FloatCastTest, testing::Values(BackEnd::kCpu, BackEnd::kCuda),
                         name_of);

}  // namespace
}  // namespace stoker::audio
