#include "stoker/observe/live/screen_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "stoker/base/utf8.h"

namespace stoker::observe {
namespace {

struct CodeRange {
  std::uint32_t first, last;
};

// Of East Asian scripts and pictures; what terminals draw two columns wide.
constexpr std::array<CodeRange, 11> kWide{{{0x1100, 0x115F},
                                           {0x2E80, 0x303E},
                                           {0x3041, 0xA4CF},
                                           {0xA960, 0xA97C},
                                           {0xAC00, 0xD7A3},
                                           {0xF900, 0xFAFF},
                                           {0xFE30, 0xFE6F},
                                           {0xFF00, 0xFF60},
                                           {0xFFE0, 0xFFE6},
                                           {0x1F300, 0x1FAFF},
                                           {0x20000, 0x3FFFD}}};
// Accents and vowel signs, drawn over the letter before them.
constexpr std::array<CodeRange, 9> kMarks{{{0x0300, 0x036F},
                                           {0x0483, 0x0489},
                                           {0x0591, 0x05BD},
                                           {0x0610, 0x061A},
                                           {0x064B, 0x065F},
                                           {0x06D6, 0x06DC},
                                           {0x200B, 0x200D},
                                           {0x20D0, 0x20F0},
                                           {0xFE00, 0xFE0F}}};
// Control characters of Latin-1, and what turns the direction of writing or breaks lines.
constexpr std::array<CodeRange, 5> kSteering{
    {{0x7F, 0x9F}, {0x200E, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F}, {0xFEFF, 0xFEFF}}};

template <std::size_t kCount>
bool is_in(const std::array<CodeRange, kCount>& ranges, std::uint32_t code) {
  return std::any_of(ranges.begin(), ranges.end(), [code](const CodeRange& range) {
    return range.first <= code && code <= range.last;
  });
}

std::size_t columns_of_code(std::uint32_t code) {
  if (is_in(kMarks, code)) return 0;
  return is_in(kWide, code) ? 2 : 1;
}

std::string_view escape_of(Tint tint) {
  switch (tint) {
    case Tint::kBold:
      return "\x1b[1m";
    case Tint::kDim:
      return "\x1b[2m";
    case Tint::kGood:
      return "\x1b[32m";
    case Tint::kWarn:
      return "\x1b[33m";
    case Tint::kBad:
      return "\x1b[31m";
    case Tint::kNone:
      break;
  }
  return "";
}

std::string first_columns(std::string_view text, std::size_t num_columns) {
  std::string out;
  while (!text.empty()) {
    const Utf8Char next = decode_utf8(text);
    const std::size_t wide = columns_of_code(next.code_point);
    if (wide > num_columns) break;
    num_columns -= wide;
    out += text.substr(0, next.size_bytes);
    text.remove_prefix(next.size_bytes);
  }
  return out;
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  std::size_t count = 0;
  while (!text.empty()) {
    const Utf8Char next = decode_utf8(text);
    count += columns_of_code(next.code_point);
    text.remove_prefix(next.size_bytes);
  }
  return count;
}

std::string safe_text(std::string_view text, bool shows_unicode) {
  constexpr std::uint32_t kFirstPrinted = 0x20, kFirstBeyondAscii = 0x80;
  std::string out;
  while (!text.empty()) {
    const Utf8Char next = decode_utf8(text);
    const std::string_view bytes = text.substr(0, next.size_bytes);
    const bool steers = next.code_point < kFirstPrinted || is_in(kSteering, next.code_point);
    if (!next.valid || steers) {
      for (const char byte : bytes)
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    } else if (!shows_unicode && next.code_point >= kFirstBeyondAscii) {
      out += '?';
    } else {
      out += bytes;
    }
    text.remove_prefix(next.size_bytes);
  }
  return out;
}

std::string last_columns(std::string_view text, std::size_t num_columns, bool shows_unicode) {
  std::string safe = safe_text(text, shows_unicode);
  std::string_view rest = safe;
  if (columns_of(rest) <= num_columns) return safe;
  const std::string_view mark = shows_unicode ? "…" : "~";
  while (!rest.empty() && columns_of(rest) + 1 > num_columns)
    rest.remove_prefix(decode_utf8(rest).size_bytes);
  return std::string(num_columns > 0 ? mark : "").append(rest);
}

void ScreenLine::put(std::string_view safe, Tint tint) {
  const std::string fitting = first_columns(safe, room());
  if (fitting.empty()) return;
  column_ += columns_of(fitting);
  const bool is_tinted = style_.shows_colour && tint != Tint::kNone;
  if (is_tinted) text_ += escape_of(tint);
  text_ += fitting;
  if (is_tinted) text_ += "\x1b[0m";
}

ScreenLine& ScreenLine::add(std::string_view text, Tint tint) {
  put(safe_text(text, style_.shows_unicode), tint);
  return *this;
}

ScreenLine& ScreenLine::move_to(std::size_t column) {
  const std::size_t to = std::min(column, num_columns_);
  if (to > column_) put(std::string(to - column_, ' '), Tint::kNone);
  return *this;
}

ScreenLine& ScreenLine::bar(double share, std::size_t num_columns, Tint tint) {
  constexpr std::array<std::string_view, 8> kParts{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double known = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0;
  const auto eighths =
      static_cast<std::size_t>(std::lround(known * static_cast<double>(8 * num_columns)));
  std::string full, empty;
  for (std::size_t i = 0; i < num_columns; ++i) {
    const std::size_t begin = 8 * i;
    if (eighths >= begin + 8) {
      full += style_.shows_unicode ? "█" : "#";
    } else if (style_.shows_unicode && eighths > begin) {
      full += kParts[eighths - begin];
    } else {
      empty += style_.shows_unicode ? "·" : ".";
    }
  }
  put(full, tint);
  put(empty, Tint::kDim);
  return *this;
}

}  // namespace stoker::observe
