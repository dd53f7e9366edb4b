// MD5 (RFC 1321), only because FLAC files carry it for their decoded samples.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace stoker::audio {

class Md5 {
 public:
  void add(std::span<const std::byte> bytes) noexcept;
  // Ends the message; the object is spent afterwards.
  std::array<std::byte, 16> finish() noexcept;

 private:
  void block(const std::byte* at) noexcept;

  std::array<std::uint32_t, 4> state_{0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476};
  std::array<std::byte, 64> pending_{};
  std::uint64_t size_bytes_ = 0;
};

}  // namespace stoker::audio
