// Writes small SentencePiece model files, so that tests need no trainer.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stoker::text {

// One message of a protocol buffer.
class WireMessage {
 public:
  WireMessage& number(std::uint32_t field, std::uint64_t value) {
    varint(field << 3U);
    varint(value);
    return *this;
  }
  WireMessage& bytes(std::uint32_t field, std::string_view content) {
    varint(field << 3U | 2U);
    varint(content.size());
    text_ += content;
    return *this;
  }
  WireMessage& real(std::uint32_t field, float value) {
    varint(field << 3U | 5U);
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (unsigned shift = 0; shift < 32; shift += 8) text_ += static_cast<char>(bits >> shift);
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80U; value >>= 7U) text_ += static_cast<char>(value | 0x80U);
    text_ += static_cast<char>(value);
  }
  std::string text_;
};

struct WrittenPiece {
  std::string_view text;
  float score = 0.0F;
  std::uint32_t kind = 1;
};

// `kind`: 1 unigram, 2 bpe, 3 word, 4 char.
inline std::string model_bytes(std::uint32_t kind, const std::vector<WrittenPiece>& pieces,
                               bool has_byte_fallback = false) {
  WireMessage model;
  for (const WrittenPiece& piece : pieces) {
    model.bytes(
        1, WireMessage().bytes(1, piece.text).real(2, piece.score).number(3, piece.kind).text());
  }
  model.bytes(2, WireMessage().number(3, kind).number(35, has_byte_fallback ? 1 : 0).text());
  return model.text();
}

}  // namespace stoker::text
