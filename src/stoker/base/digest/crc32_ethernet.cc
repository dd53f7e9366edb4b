#include "stoker/base/digest/crc32_ethernet.h"

#include <array>

namespace stoker {
namespace {

using Table = std::array<std::uint32_t, 256>;

constexpr Table make_table() {
  Table table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1U) != 0 ? (crc >> 1U) ^ 0xEDB88320U : crc >> 1U;
    table[byte] = crc;
  }
  return table;
}

constexpr Table kTable = make_table();

}  // namespace

std::uint32_t crc32_ethernet(std::span<const std::byte> bytes) noexcept {
  std::uint32_t crc = ~0U;
  for (const std::byte byte : bytes) {
    crc = (crc >> 8U) ^ kTable[(crc ^ static_cast<std::uint32_t>(byte)) & 0xFFU];
  }
  return ~crc;
}

}  // namespace stoker
