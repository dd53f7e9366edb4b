#include "stoker/text/normalizer.h"

#include <array>

#include "stoker/text/characters.h"
#include "stoker/text/persian/rules.h"
#include "stoker/text/rule_normalizer.h"

namespace stoker::text::persian {
namespace {

constexpr std::uint32_t kNonJoiner = 0x200C;

bool is_dropped(std::uint32_t c) noexcept {
  return c == 0x640 || (c >= 0x64B && c <= 0x652) || c == 0x670 || (c >= 0x656 && c <= 0x65F) ||
         (c >= 0x610 && c <= 0x61A);
}

// One form for each Persian letter: Yeh and Kaf in their Persian form, digits as 0–9, tatweel and
// vowel marks dropped, the zero-width non-joiner kept.
bool map_persian(std::uint32_t c, std::string& out) {
  if (c < 0x80) return false;
  if (is_dropped(c)) return true;
  if (c >= 0x6F0 && c <= 0x6F9) {
    out += static_cast<char>('0' + (c - 0x6F0));
    return true;
  }
  if (c >= 0x660 && c <= 0x669) {
    out += static_cast<char>('0' + (c - 0x660));
    return true;
  }
  switch (c) {
    case 0x64A:  // Arabic Yeh
    case 0x649:  // Alef maksura
      out += "ی";
      return true;
    case 0x643:  // Arabic Kaf
      out += "ک";
      return true;
    case 0x629:  // Teh marbuta
    case 0x6D5:
      out += "ه";
      return true;
    case 0x671:  // Alef wasla
    case 0x625:
      out += "ا";
      return true;
    case 0x66A:
      out += '%';
      return true;
    case 0x66B:
      out += '.';
      return true;
    case 0x66C:
      out += ',';
      return true;
    case 0xFDFC:
      out += " ریال";
      return true;
    case kNonJoiner:
      // Two in a row, or one beside a space, join nothing.
      if (!out.empty() && out.back() != ' ' && !out.ends_with("\u200C")) out += "\u200C";
      return true;
    default:
      return map_latin(c, out);
  }
}

// Each list is in order of precedence: the most specific reading first.
constexpr std::array<Rule, 1> kAtLetter{{{"abbreviation", read_abbreviation}}};
constexpr std::array<Rule, 9> kAtDigit{{{"date", read_date},
                                        {"time", read_time},
                                        {"phone", read_phone},
                                        {"era", read_era},
                                        {"ordinal", read_ordinal},
                                        {"fraction", read_fraction},
                                        {"range", read_range},
                                        {"unit", read_measure},
                                        {"number", read_cardinal}}};
constexpr std::array<Rule, 5> kAtMark{{{"money", read_money},
                                       {"percent", read_percent_before},
                                       {"sign", read_signed},
                                       {"fraction", read_fraction},
                                       {"symbol", read_symbol}}};
constexpr RuleLanguage kLanguage{
    .name = "persian", .version = 2, .map = map_persian, .book = {kAtLetter, kAtDigit, kAtMark}};

}  // namespace

std::shared_ptr<const Normalizer> make_normalizer() {
  return std::make_shared<const RuleNormalizer>(kLanguage);
}

}  // namespace stoker::text::persian
