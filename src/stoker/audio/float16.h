// f32 to f16 and bf16 and back by integer arithmetic, the same on every machine and GPU: round to
// nearest even. The only such conversion on the host; faster kernels must agree with it.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace stoker::audio {

inline constexpr float kLargestF16 = 65504.0F;

// What is not a number stays so: made quiet, the payload's upper bits kept, as a processor does it.
constexpr std::uint16_t bf16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

constexpr float bf16_value(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// As a processor does it: 65520 and more become infinite, what is not a number as in bf16_bits().
constexpr std::uint16_t f16_bits_or_infinity(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U)
    return static_cast<std::uint16_t>(sign | 0x7E00U | ((magnitude >> 13) & 0x3FFU));
  if (magnitude >= 0x477FF000U) return sign | 0x7C00U;
  if (magnitude < 0x38800000U) {
    // Below 2^-14 the last bit of f16 is worth 2^-24; adding 0.5 rounds there in f32 itself.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000U));
  }
  const std::uint32_t rounded = magnitude + 0xFFFU + ((magnitude >> 13) & 1U);
  return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000U) >> 13));
}

// Numbers saturate at +-65504: a feature must not become infinite.
constexpr std::uint16_t f16_bits(float value) {
  const float floored = value < -kLargestF16 ? -kLargestF16 : value;
  return f16_bits_or_infinity(floored > kLargestF16 ? kLargestF16 : floored);
}

constexpr float f16_value(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  const std::uint32_t magnitude = bits & 0x7FFFU;
  if (magnitude < 0x0400U) {
    const float value = static_cast<float>(magnitude) * 0x1p-24F;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
  }
  if (magnitude >= 0x7C00U) return std::bit_cast<float>(sign | 0x7F800000U | (magnitude << 13));
  return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000U));
}

// The formats as types, for code that is written once for all of them.
struct F16 {
  std::uint16_t bits;
};
struct Bf16 {
  std::uint16_t bits;
};

constexpr float wide(float value) { return value; }
constexpr float wide(F16 value) { return f16_value(value.bits); }
constexpr float wide(Bf16 value) { return bf16_value(value.bits); }

template <class To>
constexpr To narrow(float value) {
  const bool is_number = value == value;
  if constexpr (std::is_same_v<To, F16>)
    return {is_number ? f16_bits(value) : std::uint16_t{0x7E00}};
  if constexpr (std::is_same_v<To, Bf16>)
    return {is_number ? bf16_bits(value) : std::uint16_t{0x7FC0}};
  if constexpr (std::is_same_v<To, float>) return value;
}

}  // namespace stoker::audio
