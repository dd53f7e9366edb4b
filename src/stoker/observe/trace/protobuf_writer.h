// Writes protobuf messages by field number, without a library: a trace needs four kinds of fields.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stoker::observe {

// The bytes of one message. Fields come out in the order of the calls.
class ProtobufWriter {
 public:
  void number(std::uint32_t field, std::uint64_t value) {
    tag(field, kVarint);
    varint(value);
  }
  // Of fields declared int32 or int64.
  void signed_number(std::uint32_t field, std::int64_t value) {
    number(field, static_cast<std::uint64_t>(value));
  }
  void fixed64(std::uint32_t field, std::uint64_t value) {
    tag(field, kFixed64);
    for (unsigned shift = 0; shift < 64; shift += 8)
      bytes_.push_back(static_cast<char>(value >> shift & 0xFFU));
  }
  void real(std::uint32_t field, double value) {
    fixed64(field, std::bit_cast<std::uint64_t>(value));
  }
  void text(std::uint32_t field, std::string_view value) {
    head(field, value.size());
    bytes_.append(value);
  }
  // What comes before a text or a message of so many bytes.
  void head(std::uint32_t field, std::size_t num_bytes) {
    tag(field, kLength);
    varint(num_bytes);
  }
  void message(std::uint32_t field, const ProtobufWriter& inner) { text(field, inner.bytes_); }

  const std::string& bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  static constexpr std::uint32_t kVarint = 0, kFixed64 = 1, kLength = 2;

  void tag(std::uint32_t field, std::uint32_t kind) { varint(field << 3U | kind); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80U; value >>= 7U) bytes_.push_back(static_cast<char>(value | 0x80U));
    bytes_.push_back(static_cast<char>(value));
  }

  std::string bytes_;
};

}  // namespace stoker::observe
