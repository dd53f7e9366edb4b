#include "stoker/base/digest/crc32c.h"

#include <array>

#include "stoker/base/bytes.h"
#include "stoker/base/digest/crc32c_fast.h"
#include "stoker/base/simd_level.h"

namespace stoker {
namespace {

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc & 1U) != 0 ? (crc >> 1) ^ kCrc32cPolynomial : crc >> 1;
    tables[0][i] = crc;
  }
  for (std::size_t t = 1; t < 8; ++t)
    for (std::size_t i = 0; i < 256; ++i)
      tables[t][i] = (tables[t - 1][i] >> 8) ^ tables[0][tables[t - 1][i] & 0xFFU];
  return tables;
}

constexpr Tables kTables = make_tables();

// Eight bytes a step: each byte has a table for its position.
std::uint32_t checksum_by_table(std::span<const std::byte> bytes, std::uint32_t seed) noexcept {
  std::uint32_t crc = ~seed;
  while (bytes.size() >= 8) {
    const std::uint64_t word = load_le<std::uint64_t>(bytes.data()) ^ crc;
    crc = kTables[7][word & 0xFFU] ^ kTables[6][(word >> 8) & 0xFFU] ^
          kTables[5][(word >> 16) & 0xFFU] ^ kTables[4][(word >> 24) & 0xFFU] ^
          kTables[3][(word >> 32) & 0xFFU] ^ kTables[2][(word >> 40) & 0xFFU] ^
          kTables[1][(word >> 48) & 0xFFU] ^ kTables[0][word >> 56];
    bytes = bytes.subspan(8);
  }
  for (const std::byte byte : bytes)
    crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<std::uint32_t>(byte)) & 0xFFU];
  return ~crc;
}

constexpr Crc32cPath kTablePath{"table", &checksum_by_table};

const Crc32cPath& choose_path() {
  static const std::vector<Crc32cPath> paths = crc32c_paths();
  Result<SimdLevel> level = simd_level();
  // Checksums do not differ between the paths, so a wrong STOKER_SIMD is left to those who report
  // it.
  if (level.ok() && *level == SimdLevel::kScalar) return paths.front();
  if (level.ok() && *level == SimdLevel::kAvx2 && paths.size() > 1) return paths[1];
  return paths.back();
}

}  // namespace

std::vector<Crc32cPath> crc32c_paths() {
  std::vector<Crc32cPath> paths{kTablePath};
  append_fast_crc32c_paths(paths);
  return paths;
}

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t seed) noexcept {
  static const Crc32cPath& path = choose_path();
  return path.checksum(bytes, seed);
}

}  // namespace stoker
