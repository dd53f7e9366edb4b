#include <array>

#include "stoker/text/english/rules.h"
#include "stoker/text/number_words.h"

namespace stoker::text::english {
namespace {

constexpr std::uint64_t kLargestSpokenDenominator = 100;

struct Fraction {
  std::uint64_t top = 0;
  std::uint64_t bottom = 0;
  std::size_t end = 0;
};

struct Sign {
  std::string_view sign;
  std::uint64_t top;
  std::uint64_t bottom;
};
constexpr std::array<Sign, 19> kSigns{{{"½", 1, 2},
                                       {"¼", 1, 4},
                                       {"¾", 3, 4},
                                       {"⅓", 1, 3},
                                       {"⅔", 2, 3},
                                       {"⅛", 1, 8},
                                       {"⅜", 3, 8},
                                       {"⅝", 5, 8},
                                       {"⅞", 7, 8},
                                       {"⅕", 1, 5},
                                       {"⅖", 2, 5},
                                       {"⅗", 3, 5},
                                       {"⅘", 4, 5},
                                       {"⅙", 1, 6},
                                       {"⅚", 5, 6},
                                       {"⅐", 1, 7},
                                       {"⅑", 1, 9},
                                       {"⅒", 1, 10},
                                       {"↉", 0, 3}}};

// "3/4" or "¾" at `at`; bottom is 0 when there is none.
Fraction fraction_at(std::string_view text, std::size_t at) noexcept {
  for (const Sign& sign : kSigns) {
    if (has_at(text, at, sign.sign)) return {sign.top, sign.bottom, at + sign.sign.size()};
  }
  const std::size_t slash = digits_end(text, at);
  if (slash == at || slash - at > 4 || peek(text, slash) != '/') return {};
  const std::size_t end = digits_end(text, slash + 1);
  if (end == slash + 1 || end - slash > 5 || peek(text, end) == '/') return {};
  if (peek(text, end) == '.' && is_digit(peek(text, end + 1))) return {};
  return {digits_value(text.substr(at, slash - at)),
          digits_value(text.substr(slash + 1, end - slash - 1)), end};
}

void append_bottom(std::string& out, std::uint64_t bottom) {
  if (bottom == 2) {
    out += "half";
  } else if (bottom == 4) {
    out += "quarter";
  } else {
    append_ordinal(out, bottom);
  }
}

void append_fraction(std::string& out, const Fraction& fraction) {
  append_cardinal(out, fraction.top);
  if (fraction.bottom < 2 || fraction.bottom > kLargestSpokenDenominator ||
      fraction.top > fraction.bottom * 10) {
    out += " over ";
    append_cardinal(out, fraction.bottom);
    return;
  }
  out += ' ';
  append_bottom(out, fraction.bottom);
  if (fraction.top != 1) pluralize_last(out);
}

// Pairs that people name rather than divide.
bool append_named_pair(std::string& out, const Fraction& fraction) {
  const bool named = (fraction.top == 24 && fraction.bottom == 7) ||
                     (fraction.top == 9 && fraction.bottom == 11) ||
                     (fraction.top == 50 && fraction.bottom == 50) ||
                     (fraction.top == 20 && fraction.bottom == 20);
  if (!named) return false;
  append_cardinal(out, fraction.top);
  out += ' ';
  append_cardinal(out, fraction.bottom);
  return true;
}

// "2 1/2", "2½", "2-1/2": the whole number before a fraction.
Fraction mixed_part(std::string_view text, const WrittenNumber& whole) noexcept {
  if (!whole.fraction.empty() || !whole.fits) return {};
  const char next = peek(text, whole.end);
  const std::size_t start = next == ' ' || next == '-' ? whole.end + 1 : whole.end;
  const Fraction part = fraction_at(text, start);
  const bool proper = part.bottom > part.top && part.bottom <= kLargestSpokenDenominator;
  return proper ? part : Fraction{};
}

}  // namespace

std::size_t read_fraction(std::string_view text, std::size_t at, std::string& out) {
  const Fraction plain = fraction_at(text, at);
  if (plain.bottom != 0 || plain.end != 0) {
    open_gap(out);
    std::size_t end = plain.end;
    if (!append_named_pair(out, plain)) {
      append_fraction(out, plain);
      const bool is_part = plain.top < plain.bottom;  // three quarters of an inch
      end = append_unit_after(text, at, end, is_part ? UnitForm::kPartOf : UnitForm::kMany, out);
    }
    close_gap(text, end, out);
    return end - at;
  }
  const auto whole = read_number(text, at);
  if (!whole) return 0;
  const Fraction part = mixed_part(text, *whole);
  if (part.bottom == 0) return 0;
  open_gap(out);
  append_number(out, *whole);
  out += part.top == 1 ? " and a " : " and ";
  if (part.top == 1) {
    append_bottom(out, part.bottom);
  } else {
    append_fraction(out, part);
  }
  const std::size_t end = append_unit_after(text, at, part.end, UnitForm::kMany, out);
  close_gap(text, end, out);
  return end - at;
}

}  // namespace stoker::text::english
