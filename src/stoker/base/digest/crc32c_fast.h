// What the fast paths of CRC-32C share with the plain one: arithmetic modulo the polynomial, the
// constants with which a vector register folds bytes forward, and the list they enter.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/base/digest/crc32c.h"

namespace stoker {

// Bit 31 is x^0 (reflected), as in the checksum itself.
inline constexpr std::uint32_t kCrc32cPolynomial = 0x82F63B78U;

constexpr std::uint32_t multiply_mod_crc32c(std::uint32_t a, std::uint32_t b) noexcept {
  std::uint32_t product = 0;
  for (std::uint32_t bit = 1U << 31; bit != 0; bit >>= 1) {
    if ((a & bit) != 0) product ^= b;
    b = (b & 1U) != 0 ? (b >> 1) ^ kCrc32cPolynomial : b >> 1;
  }
  return product;
}

// x^exponent modulo the polynomial.
constexpr std::uint32_t power_mod_crc32c(std::uint64_t exponent) noexcept {
  std::uint32_t result = 1U << 31;
  std::uint32_t square = 1U << 30;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1U) != 0) result = multiply_mod_crc32c(result, square);
    square = multiply_mod_crc32c(square, square);
  }
  return result;
}

// To move a 128-bit lane forward by some bytes: the carry-less product of its first eight bytes
// with `first`, plus that of its last eight bytes with `last`.
struct Crc32cFold {
  std::uint64_t first;
  std::uint64_t last;
};

constexpr Crc32cFold crc32c_fold_by(std::uint64_t distance_bytes) noexcept {
  // A product of reflected operands is one power of x too high, hence the - 1.
  const std::uint64_t distance_bits = 8 * distance_bytes;
  return {std::uint64_t{power_mod_crc32c(distance_bits + 64 - 1)} << 32,
          std::uint64_t{power_mod_crc32c(distance_bits - 1)} << 32};
}

// Appends the paths that need special instructions and that this processor has, slowest first.
void append_fast_crc32c_paths(std::vector<Crc32cPath>& paths);

}  // namespace stoker
