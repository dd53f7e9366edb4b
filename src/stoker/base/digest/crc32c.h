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

// One implementation. All agree; which is used follows simd_level().
struct Crc32cPath {
  std::string_view name;  // "table", "three-way", "folding"
  std::uint32_t (*checksum)(std::span<const std::byte> bytes, std::uint32_t seed) noexcept;
};

// Those that this processor can run, slowest first; never empty.
std::vector<Crc32cPath> crc32c_paths();

}  // namespace stoker
