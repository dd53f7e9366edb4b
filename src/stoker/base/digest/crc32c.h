// CRC-32C (Castagnoli): the checksum behind every stored record, as fast as the processor allows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace stoker {

// `seed` is the checksum of what came before: crc32c(b, crc32c(a)) covers a then b.
// crc32c("123456789") is 0xE3069283.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t seed = 0) noexcept;

// Copies and checks in one pass over memory. The spans must not overlap; sizes must be equal.
std::uint32_t copy_crc32c(std::span<std::byte> to, std::span<const std::byte> from,
                          std::uint32_t seed = 0) noexcept;

// The checksum of a then b from those of its parts; O(log second_bytes).
std::uint32_t crc32c_combine(std::uint32_t first, std::uint32_t second,
                             std::uint64_t second_bytes) noexcept;

// One way to compute it. All ways agree; which is used follows simd_level().
struct Crc32cPath {
  std::string_view name;  // "table", "three-way", "folding"
  std::uint32_t (*checksum)(std::span<const std::byte> bytes, std::uint32_t seed) noexcept;
  // Null where the way cannot fuse the copy.
  std::uint32_t (*copy)(std::span<std::byte> to, std::span<const std::byte> from,
                        std::uint32_t seed) noexcept;
};

// The ways this processor has, slowest first; never empty.
std::vector<Crc32cPath> crc32c_paths();

// The way in use.
const Crc32cPath& crc32c_path();

}  // namespace stoker
