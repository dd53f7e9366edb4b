#include "stoker/base/utf8.h"

#include "stoker/base/invariant.h"

namespace stoker {
namespace {

struct LeadByte {
  std::size_t size_bytes;
  std::uint32_t payload;
  std::uint32_t least;  // smallest code point that needs this many bytes
};

LeadByte classify(unsigned char byte) noexcept {
  if (byte < 0x80) return {1, byte, 0};
  if ((byte & 0xE0U) == 0xC0) return {2, byte & 0x1FU, 0x80};
  if ((byte & 0xF0U) == 0xE0) return {3, byte & 0x0FU, 0x800};
  if ((byte & 0xF8U) == 0xF0) return {4, byte & 0x07U, 0x10000};
  return {0, 0, 0};
}

bool is_scalar(std::uint32_t code_point) noexcept {
  return code_point <= 0x10FFFF && !(code_point >= 0xD800 && code_point <= 0xDFFF);
}

}  // namespace

Utf8Char decode_utf8(std::string_view text) noexcept {
  const LeadByte lead = classify(static_cast<unsigned char>(text.front()));
  if (lead.size_bytes == 0 || lead.size_bytes > text.size()) return {};
  std::uint32_t code_point = lead.payload;
  for (std::size_t i = 1; i < lead.size_bytes; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0U) != 0x80) return {};
    code_point = (code_point << 6U) | (byte & 0x3FU);
  }
  if (code_point < lead.least || !is_scalar(code_point)) return {};
  return {code_point, lead.size_bytes, true};
}

std::size_t find_invalid_utf8(std::string_view text) noexcept {
  std::size_t at = 0;
  while (at < text.size()) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    const Utf8Char next = decode_utf8(text.substr(at));
    if (!next.valid) return at;
    at += next.size_bytes;
  }
  return at;
}

void append_utf8(std::string& out, std::uint32_t code_point) {
  check_invariant(is_scalar(code_point),
                  "append_utf8 of something that is no Unicode scalar value");
  const auto tail = [&](unsigned shift) {
    out += static_cast<char>(0x80U | ((code_point >> shift) & 0x3FU));
  };
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    out += static_cast<char>(0xC0U | (code_point >> 6U));
    tail(0);
  } else if (code_point < 0x10000) {
    out += static_cast<char>(0xE0U | (code_point >> 12U));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0U | (code_point >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace stoker
