#include "stoker/base/report/deflate.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "stoker/base/bytes.h"

namespace stoker {
namespace {

constexpr std::size_t kMinMatch = 3;
constexpr std::size_t kMaxMatch = 258;
constexpr std::size_t kWindow = 32'768;
constexpr unsigned kHashBits = 15;
constexpr unsigned kEndOfBlock = 256;

// RFC 1951, 3.2.5: the first length or distance of each code and the extra bits that follow it.
constexpr std::array<std::uint16_t, 29> kLengthBase{3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                                    15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                                    67, 83, 99, 115, 131, 163, 195, 227, 258};
constexpr std::array<std::uint8_t, 29> kLengthExtra{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                    2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
constexpr std::array<std::uint16_t, 30> kDistanceBase{
    1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
    193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};

unsigned distance_extra(std::size_t code) {
  return code < 4 ? 0 : static_cast<unsigned>(code / 2 - 1);
}

// Index of the last entry that is not above `value`.
template <class Table>
std::size_t code_for(const Table& base, std::size_t value) {
  return static_cast<std::size_t>(std::upper_bound(base.begin(), base.end(), value) -
                                  base.begin()) -
         1;
}

class BitWriter {
 public:
  explicit BitWriter(std::vector<std::byte>& out) : out_(out) {}

  // Numbers go low bit first.
  void put(std::uint32_t value, unsigned num_bits) {
    held_ |= std::uint64_t{value} << num_held_;
    for (num_held_ += num_bits; num_held_ >= 8; num_held_ -= 8) {
      out_.push_back(static_cast<std::byte>(held_));
      held_ >>= 8;
    }
  }
  // Huffman codes go high bit first.
  void put_code(std::uint32_t code, unsigned num_bits) {
    for (unsigned bit = num_bits; bit-- > 0;) put((code >> bit) & 1U, 1);
  }
  void finish() {
    if (num_held_ > 0) put(0, 8 - num_held_);
  }

 private:
  std::vector<std::byte>& out_;
  std::uint64_t held_ = 0;
  unsigned num_held_ = 0;
};

// The fixed code of RFC 1951, 3.2.6.
void put_symbol(BitWriter& bits, unsigned symbol) {
  if (symbol < 144)
    bits.put_code(0x30 + symbol, 8);
  else if (symbol < 256)
    bits.put_code(0x190 + symbol - 144, 9);
  else if (symbol < 280)
    bits.put_code(symbol - 256, 7);
  else
    bits.put_code(0xC0 + symbol - 280, 8);
}

void put_match(BitWriter& bits, std::size_t length, std::size_t distance) {
  const std::size_t length_code = code_for(kLengthBase, length);
  put_symbol(bits, static_cast<unsigned>(257 + length_code));
  bits.put(static_cast<std::uint32_t>(length - kLengthBase[length_code]),
           kLengthExtra[length_code]);
  const std::size_t distance_code = code_for(kDistanceBase, distance);
  bits.put_code(static_cast<std::uint32_t>(distance_code), 5);
  bits.put(static_cast<std::uint32_t>(distance - kDistanceBase[distance_code]),
           distance_extra(distance_code));
}

std::size_t hash_at(const std::byte* at) {
  const std::uint32_t three = (static_cast<std::uint32_t>(at[0]) << 16) |
                              (static_cast<std::uint32_t>(at[1]) << 8) |
                              static_cast<std::uint32_t>(at[2]);
  return (three * 2654435761U) >> (32 - kHashBits);
}

// Remembers the last place of each three bytes; 0 = none, else place + 1.
class LastSeen {
 public:
  std::size_t match_length(std::span<const std::byte> bytes, std::size_t at,
                           std::size_t& distance) {
    if (at + kMinMatch > bytes.size()) return 0;
    const std::size_t before = place_[hash_at(&bytes[at])];
    place_[hash_at(&bytes[at])] = at + 1;
    if (before == 0 || at + 1 - before > kWindow) return 0;
    distance = at + 1 - before;
    const std::size_t most = std::min(kMaxMatch, bytes.size() - at);
    std::size_t length = 0;
    while (length < most && bytes[at + length] == bytes[at - distance + length]) ++length;
    return length;
  }

 private:
  std::vector<std::size_t> place_ = std::vector<std::size_t>(std::size_t{1} << kHashBits);
};

std::uint32_t adler32(std::span<const std::byte> bytes) {
  std::uint32_t low = 1;
  std::uint32_t high = 0;
  for (const std::byte byte : bytes) {
    low = (low + static_cast<std::uint32_t>(byte)) % 65521;
    high = (high + low) % 65521;
  }
  return (high << 16) | low;
}

}  // namespace

std::vector<std::byte> zlib_compress(std::span<const std::byte> bytes) {
  std::vector<std::byte> out{std::byte{0x78}, std::byte{0x01}};
  BitWriter bits(out);
  bits.put(1, 1);  // the only block
  bits.put(1, 2);  // fixed codes
  LastSeen seen;
  for (std::size_t at = 0; at < bytes.size();) {
    std::size_t distance = 0;
    const std::size_t length = seen.match_length(bytes, at, distance);
    if (length >= kMinMatch) {
      put_match(bits, length, distance);
      at += length;
    } else {
      put_symbol(bits, static_cast<unsigned>(bytes[at]));
      ++at;
    }
  }
  put_symbol(bits, kEndOfBlock);
  bits.finish();
  const std::uint32_t check = adler32(bytes);
  for (const unsigned shift : {24U, 16U, 8U, 0U})
    out.push_back(static_cast<std::byte>(check >> shift));
  return out;
}

}  // namespace stoker
