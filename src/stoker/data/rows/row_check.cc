#include "stoker/data/rows/row_check.h"

#include <fmt/format.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <cstring>

#include "stoker/base/bytes.h"
#include "stoker/base/number_text.h"
#include "stoker/base/utf8.h"
#include "stoker/data/errors.h"
#include "stoker/text/errors.h"

namespace stoker::data {
namespace {

Error wrong(const ErrorCode& code, std::uint64_t at_bytes, std::string promised,
            std::string found) {
  return {.code = &code,
          .place = {.byte = at_bytes},
          .promised = std::move(promised),
          .found = std::move(found)};
}

bool is_space(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool is_control(std::uint32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0);
}

// Characters nobody sees and no voice speaks: zero-width, bidirectional marks, byte order marks.
bool is_invisible(std::uint32_t code_point) {
  return (is_control(code_point) && code_point != '\t') || code_point == 0x00AD ||
         code_point == 0x200B || code_point == 0x200E || code_point == 0x200F ||
         (code_point >= 0x202A && code_point <= 0x202E) ||
         (code_point >= 0x2060 && code_point <= 0x2069) || code_point == 0x061C ||
         code_point == 0xFEFF;
}

bool is_spoken(std::uint32_t code_point) {
  if (code_point < 0x80) {
    const auto c = static_cast<unsigned char>(code_point);
    return (c >= '0' && c <= '9') || ((c | 0x20U) >= 'a' && (c | 0x20U) <= 'z');
  }
  const auto type = u_charType(static_cast<UChar32>(code_point));
  return u_isalnum(static_cast<UChar32>(code_point)) || type == U_OTHER_NUMBER ||
         type == U_LETTER_NUMBER || type == U_CURRENCY_SYMBOL;
}

enum class Plain { kYes, kNothingSpoken, kNo };

// Most rows are printable ASCII; they need no decoding.
Plain plain_ascii(std::string_view text) {
  std::uint8_t worst = 0;
  bool spoken = false;
  for (const char raw : text) {
    const auto c = static_cast<unsigned char>(raw);
    worst |= static_cast<std::uint8_t>((c >= 0x7F) | ((c < 0x20) & (c != '\t')));
    spoken |= static_cast<unsigned char>((c | 0x20U) - 'a') < 26 ||
              static_cast<unsigned char>(c - '0') < 10;
  }
  if (worst != 0) return Plain::kNo;
  return spoken ? Plain::kYes : Plain::kNothingSpoken;
}

Error nothing_spoken(std::string_view text, std::uint64_t at_bytes) {
  return wrong(text::kMetaNoText, at_bytes, "a text with a letter or a digit",
               text.empty() ? std::string("an empty one")
                            : fmt::format("only \"{}\"", escape_control(text.substr(0, 40))));
}

std::string code_point_text(std::uint32_t code_point) {
  return fmt::format("U+{:04X}", code_point);
}

}  // namespace

std::optional<Error> check_id(std::string_view id, std::uint64_t at_bytes) {
  if (trimmed(id).empty()) return wrong(kMetaId, at_bytes, "an id", "an empty one");
  if (id.size() > kMaxIdBytes)
    return wrong(kMetaId, at_bytes, fmt::format("an id of at most {} bytes", grouped(kMaxIdBytes)),
                 fmt::format("{} bytes", grouped(id.size())));
  const std::size_t bad = find_invalid_utf8(id);
  if (bad != id.size())
    return wrong(kMetaUtf8, at_bytes + bad, "UTF-8",
                 fmt::format("byte 0x{:02X} in the id", static_cast<unsigned char>(id[bad])));
  for (std::size_t at = 0; at < id.size();) {
    const Utf8Char next = decode_utf8(id.substr(at));
    if (is_control(next.code_point))
      return wrong(kMetaId, at_bytes + at, "an id without control characters",
                   fmt::format("\"{}\"", escape_control(id.substr(0, 80))));
    at += next.size_bytes;
  }
  return check_path(id, at_bytes);
}

std::optional<Error> check_path(std::string_view path, std::uint64_t at_bytes) {
  const auto leaves = [&] {
    return wrong(kMetaPath, at_bytes, "a path inside the data set",
                 fmt::format("\"{}\"", escape_control(path.substr(0, 200))));
  };
  if (path.empty() || path.find('\0') != std::string_view::npos) return leaves();
  const bool drive =
      path.size() >= 2 && path[1] == ':' && (path.size() == 2 || path[2] == '\\' || path[2] == '/');
  if (path.front() == '/' || path.front() == '\\' || drive) return leaves();
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find_first_of("/\\", at), path.size());
    if (path.substr(at, end - at) == "..") return leaves();
    at = end + 1;
  }
  return std::nullopt;
}

TextCheck check_text(std::string_view raw, std::uint64_t at_bytes, InvisibleCharacters policy,
                     std::string& scratch) {
  const std::string_view text = trimmed(raw);
  const Plain plain = plain_ascii(text);
  if (plain == Plain::kYes) return {.error = {}, .checked = {.text = text}};
  if (plain == Plain::kNothingSpoken)
    return {.error = nothing_spoken(text, at_bytes), .checked = {}};
  at_bytes += static_cast<std::uint64_t>(text.data() - raw.data());
  scratch.clear();
  std::uint64_t num_dropped = 0;
  bool spoken = false;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Char next = decode_utf8(text.substr(at));
    if (!next.valid || next.code_point == 0xFFFD)
      return {.error = wrong(
                  kMetaUtf8, at_bytes + at, "UTF-8",
                  next.valid ? std::string("U+FFFD, left by a failed conversion")
                             : fmt::format("byte 0x{:02X}", static_cast<unsigned char>(text[at]))),
              .checked = {}};
    if (is_invisible(next.code_point)) {
      ++num_dropped;
      if (policy == InvisibleCharacters::kReject)
        return {.error = wrong(text::kTextControl, at_bytes + at, "visible characters",
                               code_point_text(next.code_point)),
                .checked = {}};
    } else {
      scratch += text.substr(at, next.size_bytes);
      spoken = spoken || is_spoken(next.code_point);
    }
    at += next.size_bytes;
  }
  if (!spoken) return {.error = nothing_spoken(trimmed(scratch), at_bytes), .checked = {}};
  return {.error = {}, .checked = {.text = trimmed(scratch), .num_dropped = num_dropped}};
}

std::optional<Error> check_utf8(std::string_view text, std::uint64_t at_bytes) {
  if (plain_ascii(text) != Plain::kNo) return std::nullopt;
  const std::size_t bad = find_invalid_utf8(text);
  if (bad == text.size()) return std::nullopt;
  return wrong(kMetaUtf8, at_bytes + bad, "UTF-8",
               fmt::format("byte 0x{:02X}", static_cast<unsigned char>(text[bad])));
}

std::uint64_t count_characters(std::string_view text) noexcept {
  return static_cast<std::uint64_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80;
  }));
}

}  // namespace stoker::data
