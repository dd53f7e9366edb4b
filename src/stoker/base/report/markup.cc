#include "stoker/base/report/markup.h"

#include <fmt/format.h>

#include <cstdint>

#include "stoker/base/error.h"
#include "stoker/base/utf8.h"

namespace stoker {

std::string escape_markup(std::string_view text) {
  std::string out;
  for (const char c : escape_control(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

bool has_right_to_left_letter(std::string_view text) {
  while (!text.empty()) {
    const Utf8Char next = decode_utf8(text);
    if (next.valid && next.code_point >= 0x0600 && next.code_point < 0x0700) return true;
    text.remove_prefix(next.size_bytes);
  }
  return false;
}

std::string escape_chart_text(std::string_view text) {
  if (!has_right_to_left_letter(text)) return escape_markup(text);
  return "\u2067" + escape_markup(text) + "\u2069";
}

std::string base64(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t three = 0;
    const std::size_t num_bytes = std::min<std::size_t>(3, bytes.size() - at);
    for (std::size_t i = 0; i < 3; ++i)
      three = (three << 8) | (i < num_bytes ? static_cast<std::uint32_t>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i)
      out += i <= num_bytes ? kDigits[(three >> (18 - 6 * i)) & 63U] : '=';
  }
  return out;
}

std::string data_uri(std::string_view media_type, std::span<const std::byte> bytes) {
  return fmt::format("data:{};base64,{}", media_type, base64(bytes));
}

}  // namespace stoker
