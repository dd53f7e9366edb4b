#include "stoker/text/script.h"

#include <unicode/uscript.h>

#include <algorithm>
#include <array>

#include "stoker/base/utf8.h"

namespace stoker::text {
namespace {

using Languages = std::span<const std::string_view>;

// Arabic first: the rules of Persian turn its letters into their own, so that it would fit too.
constexpr std::array<std::string_view, 5> kArabic{"ar", "fa", "ur", "ckb", "ps"};
constexpr std::array<std::string_view, 6> kCyrillic{"ru", "uk", "bg", "sr", "be", "kk"};
constexpr std::array<std::string_view, 3> kDevanagari{"hi", "mr", "ne"};
constexpr std::array<std::string_view, 2> kHan{"zh", "ja"};
constexpr std::array<std::string_view, 1> kKana{"ja"};
constexpr std::array<std::string_view, 12> kLatin{"de", "fr", "es", "pt", "pl", "tr",
                                                  "cs", "hu", "ro", "sv", "vi", "lt"};
constexpr std::array<std::string_view, 1> kBengali{"bn"}, kGreek{"el"}, kHebrew{"he"}, kThai{"th"},
    kHangul{"ko"}, kGeorgian{"ka"}, kArmenian{"hy"}, kTamil{"ta"}, kTelugu{"te"};

Languages languages_of(int script) {
  switch (script) {
    case USCRIPT_ARABIC:
      return kArabic;
    case USCRIPT_CYRILLIC:
      return kCyrillic;
    case USCRIPT_DEVANAGARI:
      return kDevanagari;
    case USCRIPT_HAN:
      return kHan;
    case USCRIPT_HIRAGANA:
    case USCRIPT_KATAKANA:
      return kKana;
    case USCRIPT_LATIN:
      return kLatin;
    case USCRIPT_BENGALI:
      return kBengali;
    case USCRIPT_GREEK:
      return kGreek;
    case USCRIPT_HEBREW:
      return kHebrew;
    case USCRIPT_THAI:
      return kThai;
    case USCRIPT_HANGUL:
      return kHangul;
    case USCRIPT_GEORGIAN:
      return kGeorgian;
    case USCRIPT_ARMENIAN:
      return kArmenian;
    case USCRIPT_TAMIL:
      return kTamil;
    case USCRIPT_TELUGU:
      return kTelugu;
    default:
      return {};
  }
}

}  // namespace

void ScriptTally::add(std::string_view symbol, std::uint64_t count) {
  while (!symbol.empty()) {
    const Utf8Char next = decode_utf8(symbol);
    UErrorCode status = U_ZERO_ERROR;
    const UScriptCode script = uscript_getScript(static_cast<UChar32>(next.code_point), &status);
    const bool is_own = U_SUCCESS(status) != 0 && next.valid && script != USCRIPT_COMMON &&
                        script != USCRIPT_INHERITED && script != USCRIPT_UNKNOWN;
    if (is_own) counts_[static_cast<int>(script)] += count;
    symbol.remove_prefix(next.size_bytes);
  }
}

Script ScriptTally::most_frequent() const {
  const auto most =
      std::max_element(counts_.begin(), counts_.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == counts_.end()) return {"signs", {}};
  return {uscript_getName(static_cast<UScriptCode>(most->first)), languages_of(most->first)};
}

}  // namespace stoker::text
