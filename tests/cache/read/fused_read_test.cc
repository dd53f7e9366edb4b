#include "stoker/cache/read/fused_read.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "stoker/audio/float16.h"
#include "stoker/base/bytes.h"
#include "stoker/base/digest/crc32c.h"
#include "stoker/base/philox.h"
#include "stoker/base/simd_level.h"

namespace stoker::cache {
namespace {

std::vector<std::byte> random_bytes(std::size_t num_bytes, std::uint64_t item) {
  KeyedDraws draws({.seed = 1, .stage = "fused", .epoch = 0, .item = item});
  std::vector<std::byte> bytes(num_bytes);
  for (std::byte& b : bytes) b = static_cast<std::byte>(draws.next_u32() & 0xFFU);
  return bytes;
}

std::vector<const FusedKernels*> kernels_of_this_machine() {
  std::vector<const FusedKernels*> all{&kPortableKernels};
  const SimdLevel best = detect_simd_level();
  if (best == SimdLevel::kAvx2 || best == SimdLevel::kAvx512) all.push_back(&kAvx2Kernels);
  if (best == SimdLevel::kAvx512 && __builtin_cpu_supports("vpclmulqdq"))
    all.push_back(&kAvx512Kernels);
  return all;
}

TEST(FusedReadTest, CopyGivesTheSameBytesAndTheCrcOfAnyLength) {
  for (const FusedKernels* kernels : kernels_of_this_machine()) {
    for (std::size_t num_bytes = 0; num_bytes < 1100; ++num_bytes) {
      const std::vector<std::byte> from = random_bytes(num_bytes, num_bytes);
      for (const std::size_t shift : {0U, 3U, 16U, 63U}) {
        std::vector<std::byte> room(num_bytes + 128, std::byte{0x5A});
        void* start = room.data();
        std::size_t left = room.size();
        auto* to = static_cast<std::byte*>(std::align(64, num_bytes, start, left)) + shift;
        EXPECT_EQ(kernels->copy(from.data(), to, num_bytes, 0x1234), crc32c(from, 0x1234))
            << kernels->name << " " << num_bytes;
        EXPECT_TRUE(std::equal(from.begin(), from.end(), to)) << kernels->name << " " << num_bytes;
        EXPECT_EQ(to[num_bytes], std::byte{0x5A});
      }
    }
  }
}

TEST(FusedReadTest, WideningGivesExactFloatsAndTheCrcOfTheHalves) {
  for (const FusedKernels* kernels : kernels_of_this_machine()) {
    for (const std::size_t num_values : {0U, 1U, 127U, 128U, 129U, 2048U, 2049U, 45280U}) {
      std::vector<std::byte> from = random_bytes(2 * num_values, num_values);
      for (std::size_t i = 1; i < from.size(); i += 2) from[i] &= std::byte{0xBF};  // finite
      for (const std::size_t shift : {0U, 1U, 7U}) {
        std::vector<float> room(shift + num_values + 1, 7.0F);
        float* const to = room.data() + shift;
        EXPECT_EQ(kernels->widen(from.data(), to, num_values, 99), crc32c(from, 99))
            << kernels->name << " " << num_values;
        for (std::size_t i = 0; i < num_values; ++i) {
          ASSERT_EQ(to[i], audio::f16_value(load_le<std::uint16_t>(from.data() + 2 * i)))
              << kernels->name << " " << i;
        }
        EXPECT_EQ(to[num_values], 7.0F);
      }
    }
  }
}

TEST(FusedReadTest, WideningAloneGivesTheSameFloatsInAlignedMemoryAndBesideIt) {
  constexpr std::size_t kLineFloats = 16;
  for (const FusedKernels* kernels : kernels_of_this_machine()) {
    for (const std::size_t num_values : {0U, 31U, 33U, 1023U, 1024U, 1025U, 45280U}) {
      std::vector<std::byte> from = random_bytes(2 * num_values, num_values);
      for (std::size_t i = 1; i < from.size(); i += 2) from[i] &= std::byte{0xBF};  // finite
      for (const std::size_t shift : {0U, 1U}) {
        std::vector<float> room(num_values + 2 * kLineFloats, 7.0F);
        void* start = room.data();
        std::size_t left = room.size() * sizeof(float);
        float* const to = static_cast<float*>(std::align(64, 64, start, left)) + shift;
        kernels->widen_only(from.data(), to, num_values);
        for (std::size_t i = 0; i < num_values; ++i)
          ASSERT_EQ(to[i], audio::f16_value(load_le<std::uint16_t>(from.data() + 2 * i))) << i;
        EXPECT_EQ(to[num_values], 7.0F);
      }
    }
  }
}

TEST(FloatConvertTest, EveryHalfSurvivesTheWayThroughFloat) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float wide = audio::f16_value(half);
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(audio::f16_value(audio::f16_bits_or_infinity(wide))));
    } else {
      ASSERT_EQ(audio::f16_bits_or_infinity(wide), half) << bits;
    }
  }
}

TEST(FloatConvertTest, RoundsToNearestEven) {
  struct Case {
    float value;
    std::uint16_t half;
  };
  for (const Case& row :
       {Case{1.0F, 0x3C00}, Case{1.0F + 0x1p-11F, 0x3C00}, Case{1.0F + 0x1.8p-10F, 0x3C02},
        Case{65504.0F, 0x7BFF}, Case{65519.0F, 0x7BFF}, Case{65520.0F, 0x7C00},
        Case{0x1p-24F, 0x0001}, Case{0x1p-25F, 0x0000}, Case{0x1.8p-25F, 0x0001},
        Case{-2.0F, 0xC000}, Case{0x1.ffcp-15F, 0x03FF + 1}}) {
    EXPECT_EQ(audio::f16_bits_or_infinity(row.value), row.half) << row.value;
  }
  EXPECT_EQ(audio::bf16_bits(1.0F + 0x1p-8F), 0x3F80);
  EXPECT_EQ(audio::bf16_bits(1.0F + 0x1.8p-7F), 0x3F82);
}

TEST(FusedReadTest, RarerConversionsAgreeWithOneValueAtATime) {
  const std::vector<float> values{0.0F, -1.5F, 11.512925F, 1e-3F, 65504.0F};
  std::vector<std::uint16_t> brains(values.size());
  const auto bytes = std::as_bytes(std::span(values));
  const std::uint32_t crc = copy_with_crc({.payload = bytes,
                                           .from = ElementType::kF32,
                                           .to = ElementType::kBf16,
                                           .out = brains.data(),
                                           .crc_before = 5});
  EXPECT_EQ(crc, crc32c(bytes, 5));
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(brains[i], audio::bf16_bits(values[i]));
  EXPECT_FALSE(can_convert(ElementType::kI32, ElementType::kF32));
}

TEST(FusedReadTest, PaddingIsTheValueInEveryType) {
  std::vector<std::uint16_t> halves(5, 1);
  fill_values(halves.data(), ElementType::kF16, 4, -11.512925F);
  EXPECT_EQ(halves[3], audio::f16_bits_or_infinity(-11.512925F));
  EXPECT_EQ(halves[4], 1);
}

// Every place in a line, and lengths that end before, at and behind the end of several.
template <class T>
void expect_exact_fills(ElementType element, T expected, float value) {
  constexpr std::size_t kLine = 64 / sizeof(T);
  for (std::size_t first = 0; first < kLine; ++first) {
    for (std::size_t count = 0; count < 4 * kLine; ++count) {
      std::vector<T> values(first + count + kLine);
      fill_values(values.data() + first, element, count, value);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const bool is_inside = i >= first && i < first + count;
        ASSERT_EQ(values[i], is_inside ? expected : T{}) << first << " " << count << " " << i;
      }
    }
  }
}

TEST(FusedReadTest, PaddingEndsWhereItShouldWhereverItBegins) {
  expect_exact_fills<std::uint16_t>(ElementType::kF16, audio::f16_bits_or_infinity(-4.25F), -4.25F);
  expect_exact_fills<std::uint16_t>(ElementType::kBf16, audio::bf16_bits(-4.25F), -4.25F);
  expect_exact_fills<float>(ElementType::kF32, -11.512925F, -11.512925F);
}

}  // namespace
}  // namespace stoker::cache
