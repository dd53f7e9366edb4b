// CRC-32 with the Ethernet polynomial, which PNG and zip files carry; not the CRC-32C of the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace stoker {

// crc32_ethernet("123456789") is 0xCBF43926.
std::uint32_t crc32_ethernet(std::span<const std::byte> bytes) noexcept;

}  // namespace stoker
