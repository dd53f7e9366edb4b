// Integer arithmetic that notices when a number from a file does not fit.
#pragma once

#include <concepts>
#include <optional>

namespace stoker {

template <std::integral T>
[[nodiscard]] constexpr std::optional<T> checked_add(T a, T b) noexcept {
  T out{};
  if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
  return out;
}

template <std::integral T>
[[nodiscard]] constexpr std::optional<T> checked_multiply(T a, T b) noexcept {
  T out{};
  if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
  return out;
}

// Smallest multiple of `step` that is not below `value`; precondition: step > 0 and the result
// fits.
template <std::unsigned_integral T>
[[nodiscard]] constexpr T round_up(T value, T step) noexcept {
  return (value + step - 1) / step * step;
}

}  // namespace stoker
