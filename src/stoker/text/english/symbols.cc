#include <array>

#include "stoker/text/english/rules.h"

namespace stoker::text::english {
namespace {

struct Symbol {
  std::string_view sign;
  std::string_view spoken;  // empty: silent
};

constexpr std::array kSymbols{Symbol{"&", "and"},
                              Symbol{"%", "percent"},
                              Symbol{"@", "at"},
                              Symbol{"+", "plus"},
                              Symbol{"=", "equals"},
                              Symbol{"<", "less than"},
                              Symbol{">", "greater than"},
                              Symbol{"$", "dollars"},
                              Symbol{"^", ""},
                              Symbol{"_", ""},
                              Symbol{"|", ""},
                              Symbol{"~", ""},
                              Symbol{"*", ""},
                              Symbol{"\\", "backslash"},
                              Symbol{"`", ""},
                              Symbol{"£", "pounds"},
                              Symbol{"€", "euros"},
                              Symbol{"¥", "yen"},
                              Symbol{"°C", "degrees Celsius"},
                              Symbol{"°F", "degrees Fahrenheit"},
                              Symbol{"°", "degrees"},
                              Symbol{"×", "times"},
                              Symbol{"÷", "divided by"},
                              Symbol{"±", "plus or minus"},
                              Symbol{"©", "copyright"},
                              Symbol{"®", "registered"},
                              Symbol{"™", "trademark"},
                              Symbol{"§", "section"},
                              Symbol{"¶", "paragraph"},
                              Symbol{"≈", "approximately"},
                              Symbol{"≤", "less than or equal to"},
                              Symbol{"≥", "greater than or equal to"},
                              Symbol{"≠", "not equal to"},
                              Symbol{"→", "to"},
                              Symbol{"•", ""},
                              Symbol{"·", ""},
                              Symbol{"√", "square root of"},
                              Symbol{"∞", "infinity"},
                              Symbol{"²", "squared"},
                              Symbol{"³", "cubed"},
                              Symbol{"µ", "micro"},
                              Symbol{"№", "number"}};

bool digit_before(std::string_view text, std::size_t at) noexcept {
  while (at > 0 && text[at - 1] == ' ') --at;
  return is_digit(before(text, at)) || before(text, at) == ')';
}

// "3:00-4:00", "10%-20%", "9am-5pm": a dash between two amounts.
bool joins_amounts(std::string_view text, std::size_t at) noexcept {
  if (!is_digit(peek(text, at + 1)) || at < 2) return false;
  const char prior = text[at - 1];
  const bool half_day = prior == 'm' && (text[at - 2] == 'a' || text[at - 2] == 'p');
  const bool dotted_half = prior == '.' && text[at - 2] == 'm';
  return is_digit(prior) || prior == '%' || half_day || dotted_half;
}

bool is_rate(std::string_view word) noexcept {
  return word == "hour" || word == "second" || word == "minute" || word == "day" ||
         word == "week" || word == "month" || word == "year";
}

// "12 ft" before the place.
bool measure_before(std::string_view text, std::size_t at) noexcept {
  const std::string_view unit = word_before(text, at);
  if (unit.empty() || unit.size() > 3 || before(text, at) != ' ') return false;
  return digit_before(text, static_cast<std::size_t>(unit.data() - text.data()));
}

// Signs whose word depends on their neighbours; empty when `c` is none of them.
std::string_view word_in_context(std::string_view text, std::size_t at) noexcept {
  const char next = peek(text, at + 1);
  switch (text[at]) {
    case '#':
      return is_digit(next) ? "number" : is_word_byte(text, at + 1) ? "hashtag" : "hash";
    case '~':
      return is_digit(next) || next == '$' ? "approximately" : std::string_view{};
    case '*':
      return digit_before(text, at) && is_digit(peek(text, spaces_end(text, at + 1)))
                 ? "times"
                 : std::string_view{};
    case '-': {
      if (joins_amounts(text, at)) return "to";
      const bool between = before(text, at) == ' ' && next == ' ' && digit_before(text, at) &&
                           is_digit(peek(text, spaces_end(text, at + 1)));
      return between ? "minus" : std::string_view{};
    }
    case '/':
      if (digit_before(text, at) && is_word_byte(text, at + 1)) return "per";
      if (is_rate(word_after(text, at + 1))) return "per";
      return is_word_or_digit(text, at + 1) && at > 0 && is_word_or_digit(text, at - 1)
                 ? "slash"
                 : std::string_view{};
    default:
      return {};
  }
}

std::size_t say(std::string_view text, std::size_t end, std::string_view word, std::string& out) {
  say_word(text, end, word, out);
  if (!word.empty() && peek(text, end) == '$') out += ' ';
  return end;
}

}  // namespace

std::size_t read_symbol(std::string_view text, std::size_t at, std::string& out) {
  const std::string_view word = word_in_context(text, at);
  if (!word.empty()) return say(text, at + 1, word, out) - at;
  for (const Symbol& symbol : kSymbols) {
    if (has_at(text, at, symbol.sign))
      return say(text, at + symbol.sign.size(), symbol.spoken, out) - at;
  }
  // A hyphen between a name and its number is not said: F-16, COVID-19.
  const bool joins_number =
      text[at] == '-' && at > 0 && is_upper(text[at - 1]) && is_digit(peek(text, at + 1));
  if (!joins_number) return 0;
  out += ' ';
  return 1;
}

// "(555) 123-4567": the parenthesis belongs to the number.
std::size_t read_area_code(std::string_view text, std::size_t at, std::string& out) {
  if (text[at] != '(' || digits_end(text, at + 1) != at + 4 || peek(text, at + 4) != ')') return 0;
  const std::size_t taken = read_phone(text, at + 1, out);
  return taken == 0 ? 0 : taken + 1;
}

// 3 x 4, 1920x1080, 4×4: "by" between measures.
std::size_t read_by(std::string_view text, std::size_t at, std::string& out) {
  if (text[at] != 'x' || word_end(text, at) != at + 1) return 0;
  if (!digit_before(text, at) && !measure_before(text, at)) return 0;
  if (!is_digit(peek(text, spaces_end(text, at + 1)))) return 0;
  return say(text, at + 1, "by", out) - at;
}

}  // namespace stoker::text::english
