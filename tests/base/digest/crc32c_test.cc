#include "stoker/base/digest/crc32c.h"

#include <gtest/gtest.h>

#include "stoker/base/bytes.h"
#include "stoker/base/philox.h"

namespace stoker {
namespace {

std::vector<std::byte> random_bytes(std::size_t num_bytes) {
  KeyedDraws draws({.seed = 1, .stage = "crc32c_test", .epoch = 0, .item = num_bytes});
  std::vector<std::byte> bytes(num_bytes);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(draws.next_u32());
  return bytes;
}

// One bit at a time, as the definition has it.
std::uint32_t slow_crc32c(std::span<const std::byte> bytes, std::uint32_t seed) {
  std::uint32_t crc = ~seed;
  for (const std::byte byte : bytes) {
    crc ^= static_cast<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1U) != 0 ? (crc >> 1) ^ 0x82F63B78U : crc >> 1;
  }
  return ~crc;
}

TEST(Crc32cTest, PublishedValuesHoldOnEveryPath) {
  const std::vector<std::byte> zeros(32);
  const std::vector<std::byte> ones(32, std::byte{0xFF});
  for (const Crc32cPath& path : crc32c_paths()) {
    EXPECT_EQ(path.checksum(view_bytes("123456789"), 0), 0xE3069283U) << path.name;
    EXPECT_EQ(path.checksum(zeros, 0), 0x8A9136AAU) << path.name;  // RFC 3720, B.4
    EXPECT_EQ(path.checksum(ones, 0), 0x62A8AB43U) << path.name;
    EXPECT_EQ(path.checksum({}, 0), 0U) << path.name;
  }
}

TEST(Crc32cTest, PathsAgreeAtEverySizeAndAlignment) {
  const std::vector<std::byte> bytes = random_bytes(3000);
  for (std::size_t size = 0; size + 16 < bytes.size(); size += 1 + size / 40) {
    const std::span<const std::byte> part = std::span(bytes).subspan(size % 16, size);
    const std::uint32_t expected = slow_crc32c(part, 7);
    for (const Crc32cPath& path : crc32c_paths())
      EXPECT_EQ(path.checksum(part, 7), expected) << path.name << ", " << size << " bytes";
  }
}

TEST(Crc32cTest, PathsAgreeOnLargeInput) {
  const std::vector<std::byte> bytes = random_bytes(100'003);
  const std::uint32_t expected = slow_crc32c(bytes, 0);
  for (const Crc32cPath& path : crc32c_paths())
    EXPECT_EQ(path.checksum(bytes, 0), expected) << path.name;
}

TEST(Crc32cTest, SeedContinues) {
  const std::vector<std::byte> bytes = random_bytes(5000);
  const std::uint32_t whole = crc32c(bytes);
  for (const std::size_t cut : {0U, 1U, 255U, 256U, 4097U, 5000U}) {
    const auto first = std::span(bytes).first(cut);
    const auto second = std::span(bytes).subspan(cut);
    EXPECT_EQ(crc32c(second, crc32c(first)), whole);
  }
}

TEST(Crc32cTest, EverySingleBitFlipChangesIt) {
  std::vector<std::byte> bytes = random_bytes(600);
  const std::uint32_t before = crc32c(bytes);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    const auto mask = static_cast<std::byte>(1U << (bit % 8));
    bytes[bit / 8] ^= mask;
    ASSERT_NE(crc32c(bytes), before) << "bit " << bit;
    bytes[bit / 8] ^= mask;
  }
}

}  // namespace
}  // namespace stoker
