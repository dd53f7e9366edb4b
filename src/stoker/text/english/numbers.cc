#include <array>

#include "stoker/text/english/rules.h"
#include "stoker/text/number_words.h"

namespace stoker::text::english {
namespace {

constexpr std::size_t kMostCardinalDigits = 15;

// Words before a four-digit number that make it a year even when things to count follow.
constexpr std::array<std::string_view, 22> kBeforeYear{
    "in",     "since",  "by",     "until", "till",  "circa", "during", "the",
    "year",   "before", "after",  "from",  "early", "late",  "mid",    "summer",
    "spring", "winter", "autumn", "fall",  "his",   "her"};
// Words that end in s and yet are no plural.
constexpr std::array<std::string_view, 12> kNoPlural{"was", "is",   "has", "as",   "this", "his",
                                                     "its", "plus", "us",  "thus", "less", "does"};

// Words after an amount that are no noun it could describe.
constexpr std::array<std::string_view, 24> kAfterAmount{
    "and",     "from", "per",   "away",       "more",  "less",  "with", "for",
    "each",    "long", "wide",  "tall",       "above", "below", "than", "when",
    "between", "that", "which", "separating", "lost",  "apart", "was",  "were"};

template <std::size_t N>
bool listed(const std::array<std::string_view, N>& list, std::string_view word) noexcept {
  for (const std::string_view entry : list) {
    if (same_word(word, entry)) return true;
  }
  return false;
}

bool is_plural_noun(std::string_view word) noexcept {
  if (same_word(word, "people") || same_word(word, "men") || same_word(word, "women") ||
      same_word(word, "children")) {
    return true;
  }
  return word.size() > 3 && is_lower(word.front()) && word.ends_with('s') &&
         !word.ends_with("ss") && !listed(kNoPlural, word);
}

void append_fraction_digits(std::string& out, std::string_view fraction) {
  if (fraction.empty()) return;
  out += " point ";
  append_digits(out, fraction);
}

bool starts_with_zero(const WrittenNumber& number) noexcept {
  return number.integer.size() > 1 && number.integer.front() == '0';
}

// "1914-18", "1914-1918": a second year, full or shortened.
bool is_year_pair(std::string_view first, std::string_view second) noexcept {
  if (first.size() != 4 || first < "1000" || first > "2099") return false;
  return second.size() == 2 || (second.size() == 4 && second > first && second <= "2100");
}

}  // namespace

void append_number(std::string& out, const WrittenNumber& number) {
  const bool too_long = number.num_digits() > kMostCardinalDigits && !number.grouped;
  if (!number.fits || too_long || (starts_with_zero(number) && number.fraction.empty())) {
    append_digits(out, number.integer);
  } else {
    append_cardinal(out, number.value);
  }
  append_fraction_digits(out, number.fraction);
}

std::string_view scale_word(std::string_view text, std::size_t at, std::size_t& end) noexcept {
  constexpr std::array<std::string_view, 6> kScales{"thousand", "million",     "billion",
                                                    "trillion", "quadrillion", "hundred"};
  const std::string_view word = word_after(text, at);
  for (const std::string_view scale : kScales) {
    if (!same_word(word, scale)) continue;
    end = spaces_end(text, at) + word.size();
    return scale;
  }
  return {};
}

bool is_attribute(std::string_view text, std::size_t at, std::size_t end) noexcept {
  const std::string_view prior = word_before(text, at);
  if (!same_word(prior, "a") && !same_word(prior, "an") && !same_word(prior, "the")) return false;
  const std::string_view next = word_after(text, end);
  return peek(text, end) == ' ' && next.size() > 2 && is_lower(next.front()) &&
         !listed(kAfterAmount, next);
}

bool looks_like_year(std::string_view text, std::size_t at, const WrittenNumber& number) noexcept {
  if (number.integer.size() != 4 || number.grouped || !number.fraction.empty()) return false;
  if (number.value < 1010 || number.value > 2199) return false;
  const std::string_view prior = word_before(text, at);
  if (listed(kBeforeYear, prior) || month_of(prior) != 0) return true;
  return number.value < 2100 && !is_plural_noun(word_after(text, number.end));
}

std::size_t read_year(std::string_view text, std::size_t at, std::string& out) {
  const auto number = read_number(text, at);
  if (!number || !looks_like_year(text, at, *number)) return 0;
  open_gap(out);
  append_year(out, number->value);
  close_gap(text, number->end, out);
  return number->end - at;
}

std::size_t read_cardinal(std::string_view text, std::size_t at, std::string& out) {
  const auto number = read_number(text, at);
  open_gap(out);
  append_number(out, *number);
  close_gap(text, number->end, out);
  return number->end - at;
}

namespace {

// Call 911, dial 112.
bool is_called(std::string_view text, std::size_t at) noexcept {
  const std::string_view prior = word_before(text, at);
  return same_word(prior, "call") || same_word(prior, "dial") || same_word(prior, "called") ||
         same_word(prior, "dialed");
}

}  // namespace

// Flight, room and road numbers of three digits: seven forty-seven, one oh one.
std::size_t read_label(std::string_view text, std::size_t at, std::string& out) {
  constexpr std::array<std::string_view, 7> kLabels{"boeing",  "flight", "room",     "route",
                                                    "highway", "suite",  "apartment"};
  const std::size_t end = digits_end(text, at);
  if (end - at != 3 || text[at] == '0' || is_word_or_digit(text, end) || before(text, at) != ' ')
    return 0;
  if (has_at(text, end, ".") && is_digit(peek(text, end + 1))) return 0;
  if (is_called(text, at)) {
    append_digits(out, text.substr(at, 3));
    return 3;
  }
  const std::string_view prior = word_before(text, at);
  if (!listed(kLabels, prior) || has_at(text, at + 1, "00")) return 0;
  const std::uint64_t rest = digits_value(text.substr(at + 1, 2));
  append_digits(out, text.substr(at, 1));
  out += rest < 10 ? " oh " : " ";
  append_cardinal(out, rest);
  return end - at;
}

// Takes the first number and the dash; the second number is read by its own rule.
std::size_t read_range(std::string_view text, std::size_t at, std::string& out) {
  const auto first = read_number(text, at);
  if (!first) return 0;
  const std::size_t dash = spaces_end(text, first->end);
  if (peek(text, dash) != '-' || (dash != first->end && peek(text, dash + 1) != ' ')) return 0;
  const std::size_t next = spaces_end(text, dash + 1);
  const auto second = read_number(text, next);
  if (!second || peek(text, second->end) == '-' ||
      is_word_byte(text, at == 0 ? text.size() : at - 1))
    return 0;
  if (dash != first->end && text.find('=', second->end) != std::string_view::npos) return 0;
  open_gap(out);
  const bool years = is_year_pair(first->integer, second->integer) && second->fraction.empty();
  if (years) {
    append_year(out, first->value);
  } else {
    append_number(out, *first);
  }
  // Fifty-fifty is no range.
  out += first->integer == second->integer ? " " : " to ";
  return next - at;
}

// Versions and network addresses: "2.0.1" two point zero point one, "10.0.0.1" dot by dot.
std::size_t read_dotted(std::string_view text, std::size_t at, std::string& out) {
  std::size_t end = digits_end(text, at);
  std::size_t num_parts = 1;
  while (peek(text, end) == '.' && is_digit(peek(text, end + 1))) {
    end = digits_end(text, end + 1);
    ++num_parts;
  }
  if (num_parts < 3) return 0;
  const bool network = num_parts == 4;
  open_gap(out);
  for (std::size_t part = at; part < end;) {
    const std::size_t part_end = digits_end(text, part);
    if (part != at) out += network ? " dot " : " point ";
    const std::string_view digits = text.substr(part, part_end - part);
    if (network || digits.size() > 3 || (digits.size() > 1 && digits.front() == '0')) {
      append_digits(out, digits);
    } else {
      append_cardinal(out, digits_value(digits));
    }
    part = part_end + 1;
  }
  close_gap(text, end, out);
  return end - at;
}

// "-5", "−5", "+5", ".5" where no word or number comes before the sign.
std::size_t read_signed(std::string_view text, std::size_t at, std::string& out) {
  const char sign = text[at];
  if (sign != '-' && sign != '+' && sign != '.') return 0;
  const bool money_follows = sign == '-' && peek(text, at + 1) == '$';
  if (!is_digit(peek(text, at + 1)) && !money_follows &&
      !(sign == '-' && peek(text, at + 1) == '.' && is_digit(peek(text, at + 2))))
    return 0;
  const char prior = before(text, at);
  if (is_word_or_digit(text, at == 0 ? text.size() : at - 1) || prior == ')' || prior == '.' ||
      prior == '%')
    return 0;
  open_gap(out);
  if (sign == '.') {
    const std::size_t end = digits_end(text, at + 1);
    out += "point ";
    append_digits(out, text.substr(at + 1, end - at - 1));
    close_gap(text, end, out);
    return end - at;
  }
  out += sign == '-' ? "minus " : "plus ";
  return 1;
}

}  // namespace stoker::text::english
