// One value of a cast, written once for both back ends.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "stoker/audio/float16.h"
#include "stoker/config/mel_dtype.h"

namespace stoker::audio {

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

// Calls run(From{}, To{}) with the two types.
template <class Run>
constexpr void with_types(config::MelDtype from, config::MelDtype to, Run&& run) {
  const auto with_from = [&](auto from_value) {
    if (to == config::MelDtype::kF32) run(from_value, float{});
    if (to == config::MelDtype::kF16) run(from_value, F16{});
    if (to == config::MelDtype::kBf16) run(from_value, Bf16{});
  };
  if (from == config::MelDtype::kF32) with_from(float{});
  if (from == config::MelDtype::kF16) with_from(F16{});
  if (from == config::MelDtype::kBf16) with_from(Bf16{});
}

}  // namespace stoker::audio
