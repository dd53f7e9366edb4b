#include "stoker/text/english/rules.h"
#include "stoker/text/number_words.h"

namespace stoker::text::english {
namespace {

bool is_ordinal_suffix(std::string_view word) noexcept {
  return same_word(word, "st") || same_word(word, "nd") || same_word(word, "rd") ||
         same_word(word, "th");
}

bool is_decade_suffix(std::string_view text, std::size_t at) noexcept {
  const std::size_t start = peek(text, at) == '\'' ? at + 1 : at;
  return peek(text, start) == 's' && !is_word_or_digit(text, start + 1);
}

std::size_t decade_end(std::string_view text, std::size_t at) noexcept {
  return at + (peek(text, at) == '\'' ? 2 : 1);
}

}  // namespace

// 1st, 22nd, 1,000th
std::size_t read_ordinal(std::string_view text, std::size_t at, std::string& out) {
  const auto number = read_number(text, at);
  if (!number || !number->fits || !number->fraction.empty()) return 0;
  const std::size_t end = word_end(text, number->end);
  if (!is_ordinal_suffix(text.substr(number->end, end - number->end))) return 0;
  open_gap(out);
  append_ordinal(out, number->value);
  close_gap(text, end, out);
  return end - at;
}

// 1990s, 1990's, 80s, 1900s; other plurals of numbers such as 747s.
std::size_t read_decade(std::string_view text, std::size_t at, std::string& out) {
  const auto number = read_number(text, at);
  if (!number || !number->fits || !number->fraction.empty() || number->grouped) return 0;
  if (!is_decade_suffix(text, number->end)) return 0;
  open_gap(out);
  if (number->value % 10 == 0 && number->value >= 20 && number->value < 10'000) {
    append_decade(out, number->value);
  } else {
    append_cardinal(out, number->value);
    pluralize_last(out);
  }
  return decade_end(text, number->end) - at;
}

// '90s; also the class of '98.
std::size_t read_short_decade(std::string_view text, std::size_t at, std::string& out) {
  if (text[at] != '\'' || is_word_or_digit(text, at == 0 ? text.size() : at - 1)) return 0;
  if (digits_end(text, at + 1) != at + 3) return 0;
  const std::uint64_t value = digits_value(text.substr(at + 1, 2));
  if (is_decade_suffix(text, at + 3)) {
    open_gap(out);
    append_decade(out, value);
    return decade_end(text, at + 3) - at;
  }
  if (is_word_or_digit(text, at + 3) || peek(text, at + 3) == '\'') return 0;
  open_gap(out);
  if (value < 10) out += "oh ";
  append_cardinal(out, value);
  return 3;
}

}  // namespace stoker::text::english
