#include "stoker/audio/file/md5.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "stoker/base/bytes.h"

namespace stoker::audio {
namespace {

// floor(2^32 * |sin(i + 1)|), as the RFC defines its table.
constexpr std::array<std::uint32_t, 64> kSines{
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
constexpr std::array<std::array<int, 4>, 4> kTurns{
    {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}}};

std::uint32_t mix(std::uint32_t round, std::uint32_t b, std::uint32_t c, std::uint32_t d) noexcept {
  switch (round) {
    case 0:
      return (b & c) | (~b & d);
    case 1:
      return (d & b) | (~d & c);
    case 2:
      return b ^ c ^ d;
    default:
      return c ^ (b | ~d);
  }
}

std::uint32_t word_index(std::uint32_t round, std::uint32_t step) noexcept {
  constexpr std::array<std::uint32_t, 4> kStride{1, 5, 3, 7};
  constexpr std::array<std::uint32_t, 4> kStart{0, 1, 5, 0};
  return (kStart[round] + kStride[round] * step) % 16;
}

}  // namespace

void Md5::block(const std::byte* at) noexcept {
  std::array<std::uint32_t, 16> words;
  std::memcpy(words.data(), at, sizeof(words));
  auto [a, b, c, d] = state_;
  for (std::uint32_t i = 0; i < 64; ++i) {
    const std::uint32_t round = i / 16;
    const std::uint32_t sum = a + mix(round, b, c, d) + kSines[i] + words[word_index(round, i)];
    a = d;
    d = c;
    c = b;
    b += std::rotl(sum, kTurns[round][i % 4]);
  }
  state_ = {state_[0] + a, state_[1] + b, state_[2] + c, state_[3] + d};
}

void Md5::add(std::span<const std::byte> bytes) noexcept {
  while (!bytes.empty()) {
    const std::size_t held = size_bytes_ % 64;
    if (held == 0 && bytes.size() >= 64) {
      block(bytes.data());
      size_bytes_ += 64;
      bytes = bytes.subspan(64);
      continue;
    }
    const std::size_t taken = std::min(bytes.size(), 64 - held);
    std::copy_n(bytes.begin(), taken, pending_.begin() + static_cast<std::ptrdiff_t>(held));
    size_bytes_ += taken;
    bytes = bytes.subspan(taken);
    if (size_bytes_ % 64 == 0) block(pending_.data());
  }
}

std::array<std::byte, 16> Md5::finish() noexcept {
  const std::uint64_t size_bits = size_bytes_ * 8;
  constexpr std::byte kMark{0x80};
  add(std::span(&kMark, 1));
  constexpr std::byte kZero{0};
  while (size_bytes_ % 64 != 56) add(std::span(&kZero, 1));
  add(std::as_bytes(std::span(&size_bits, 1)));
  std::array<std::byte, 16> digest;
  std::memcpy(digest.data(), state_.data(), digest.size());
  return digest;
}

}  // namespace stoker::audio
