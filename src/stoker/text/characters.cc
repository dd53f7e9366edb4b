#include "stoker/text/characters.h"

#include <unicode/unorm2.h>
#include <unicode/ustring.h>

#include <algorithm>

#include "stoker/base/invariant.h"
#include "stoker/base/utf8.h"

namespace stoker::text {
namespace {

bool is_plain_ascii(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7F; });
}

// Characters that neither compose with a neighbour nor decompose, so that text made of them alone
// is in NFC already; the common scripts of our data sets.
bool is_stable_in_nfc(std::uint32_t c) noexcept {
  if (c < 0x300) return true;
  if (c >= 0x600 && c < 0x653) return true;
  if (c > 0x655 && c < 0x6C0) return true;
  if (c >= 0x6CC && c < 0x700) return true;
  return c >= 0x2000 && c < 0x20D0 && c != 0x2000 && c != 0x2001;
}

bool is_in_nfc(std::string_view text) noexcept {
  while (!text.empty()) {
    const Utf8Char next = decode_utf8(text);
    if (!next.valid || !is_stable_in_nfc(next.code_point)) return false;
    text.remove_prefix(next.size_bytes);
  }
  return true;
}

void append_wide(std::u16string& out, std::uint32_t c) {
  if (c < 0x10000) {
    out += static_cast<char16_t>(c);
    return;
  }
  out += static_cast<char16_t>(0xD7C0 + (c >> 10U));
  out += static_cast<char16_t>(0xDC00 + (c & 0x3FFU));
}

// Decodes into scratch.wide, leaving out what is not UTF-8.
void widen(std::string_view text, NormalizeScratch& scratch) {
  scratch.wide.clear();
  while (!text.empty()) {
    const Utf8Char next = decode_utf8(text);
    if (next.valid) {
      append_wide(scratch.wide, next.code_point);
    } else {
      ++scratch.num_removed;
    }
    text.remove_prefix(next.size_bytes);
  }
}

// scratch.composed in UTF-8 into scratch.utf8.
void narrow(NormalizeScratch& scratch, std::int32_t num_units) {
  UErrorCode status = U_ZERO_ERROR;
  std::int32_t num_bytes = 0;
  scratch.utf8.resize(static_cast<std::size_t>(num_units) * 3);
  u_strToUTF8(scratch.utf8.data(), static_cast<std::int32_t>(scratch.utf8.size()), &num_bytes,
              scratch.composed.data(), num_units, &status);
  check_invariant(U_SUCCESS(status) != 0, "composed text is not well-formed UTF-16");
  scratch.utf8.resize(static_cast<std::size_t>(num_bytes));
}

std::string_view compose(std::string_view text, NormalizeScratch& scratch) {
  widen(text, scratch);
  UErrorCode status = U_ZERO_ERROR;
  const UNormalizer2* nfc = unorm2_getNFCInstance(&status);
  check_invariant(U_SUCCESS(status) != 0, "ICU has no NFC data");
  // NFC grows UTF-16 text at most threefold.
  scratch.composed.resize(scratch.wide.size() * 3 + 1);
  const std::int32_t num_units = unorm2_normalize(
      nfc, scratch.wide.data(), static_cast<std::int32_t>(scratch.wide.size()),
      scratch.composed.data(), static_cast<std::int32_t>(scratch.composed.size()), &status);
  check_invariant(U_SUCCESS(status) != 0, "NFC outgrew its bound");
  narrow(scratch, num_units);
  return scratch.utf8;
}

}  // namespace

bool is_invisible(std::uint32_t c) noexcept {
  if (c < 0x20) return c != '\t' && c != '\n' && c != '\r';
  if (c >= 0x7F && c < 0xA0) return c != 0x85;
  if (c < 0x200) return c == 0xAD;
  if (c >= 0x200B && c <= 0x200F) return true;
  if (c >= 0x202A && c <= 0x202E) return true;
  if (c >= 0x2060 && c <= 0x206F) return true;
  if (c >= 0xFE00 && c <= 0xFE0F) return true;  // variation selectors
  return c == 0x61C || c == 0x180E || c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB) ||
         (c >= 0xE0000 && c <= 0xE007F);
}

bool is_space(std::uint32_t c) noexcept {
  if (c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85 || c == 0xA0) return true;
  return c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

std::string_view clean_characters(std::string_view text, CharacterMap map,
                                  NormalizeScratch& scratch) {
  scratch.num_removed = 0;
  if (map == map_latin && is_plain_ascii(text)) return text;
  std::string_view rest = is_in_nfc(text) ? text : compose(text, scratch);
  scratch.cleaned.clear();
  while (!rest.empty()) {
    const Utf8Char next = decode_utf8(rest);
    if (is_space(next.code_point)) {
      scratch.cleaned += ' ';
    } else if (!map(next.code_point, scratch.cleaned)) {
      if (is_invisible(next.code_point)) {
        ++scratch.num_removed;
      } else {
        scratch.cleaned += rest.substr(0, next.size_bytes);
      }
    }
    rest.remove_prefix(next.size_bytes);
  }
  return scratch.cleaned;
}

bool map_latin(std::uint32_t c, std::string& out) {
  if (c < 0xA0) return false;
  switch (c) {
    case 0x2018:
    case 0x2019:
    case 0x201A:
    case 0x201B:
    case 0x2032:
    case 0x02BC:
      out += '\'';
      return true;
    case 0x201C:
    case 0x201D:
    case 0x201E:
    case 0x201F:
    case 0xAB:
    case 0xBB:
    case 0x2033:
      out += '"';
      return true;
    case 0x2010:
    case 0x2011:
    case 0x2012:
    case 0x2013:
    case 0x2212:
      out += '-';
      return true;
    case 0x2044:  // fraction slash
    case 0x2215:
      out += '/';
      return true;
    case 0x2014:
    case 0x2015:
      out += " -- ";
      return true;
    case 0x2026:
      out += "...";
      return true;
    default:
      return false;
  }
}

}  // namespace stoker::text
