// Strict UTF-8: one decoder that refuses overlong forms, surrogates and everything above U+10FFFF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stoker {

struct Utf8Char {
  std::uint32_t code_point = 0;
  std::size_t size_bytes = 1;  // at least 1, so a loop over bad input always moves on
  bool valid = false;
};

// Decodes the first character of `text`; precondition: text is not empty.
Utf8Char decode_utf8(std::string_view text) noexcept;

// Offset of the first byte that is not part of valid UTF-8, or text.size() when all is well.
std::size_t find_invalid_utf8(std::string_view text) noexcept;

// Appends the encoding of `code_point`; precondition: a Unicode scalar value.
void append_utf8(std::string& out, std::uint32_t code_point);

}  // namespace stoker
