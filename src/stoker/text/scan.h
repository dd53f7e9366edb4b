// Small questions about a sentence that every rule asks: what is here, before and after.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stoker::text {

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_upper(char c) noexcept { return c >= 'A' && c <= 'Z'; }
constexpr bool is_lower(char c) noexcept { return c >= 'a' && c <= 'z'; }
constexpr bool is_letter(char c) noexcept { return is_upper(c) || is_lower(c); }
constexpr char to_lower(char c) noexcept { return is_upper(c) ? static_cast<char>(c + 32) : c; }

// The byte at `at`, or NUL past either end, so that rules can look around without bounds checks.
constexpr char peek(std::string_view text, std::size_t at) noexcept {
  return at < text.size() ? text[at] : '\0';
}
constexpr char before(std::string_view text, std::size_t at) noexcept {
  return at > 0 ? text[at - 1] : '\0';
}
constexpr bool has_at(std::string_view text, std::size_t at, std::string_view what) noexcept {
  return at <= text.size() && text.substr(at).starts_with(what);
}

// Whether the byte, which is not ASCII, belongs to a letter.
bool is_foreign_word_byte(std::string_view text, std::size_t at) noexcept;

// Letters of any script; the Latin-1 signs and general punctuation are none.
inline bool is_word_byte(std::string_view text, std::size_t at) noexcept {
  const char c = peek(text, at);
  if (is_letter(c)) return true;
  return static_cast<signed char>(c) < 0 && is_foreign_word_byte(text, at);
}
inline bool is_word_or_digit(std::string_view text, std::size_t at) noexcept {
  return is_digit(peek(text, at)) || is_word_byte(text, at);
}

// First offset at or after `at` that is no digit, no letter, no space.
inline std::size_t digits_end(std::string_view text, std::size_t at) noexcept {
  while (is_digit(peek(text, at))) ++at;
  return at;
}
inline std::size_t word_end(std::string_view text, std::size_t at) noexcept {
  while (is_word_byte(text, at)) ++at;
  return at;
}
inline std::size_t spaces_end(std::string_view text, std::size_t at) noexcept {
  while (peek(text, at) == ' ') ++at;
  return at;
}

// The letters that end at `at`, or those that end before the spaces (and one full stop) there.
std::string_view word_before(std::string_view text, std::size_t at) noexcept;
// The letters that start at `at` or after the spaces there.
std::string_view word_after(std::string_view text, std::size_t at) noexcept;

bool same_word(std::string_view a, std::string_view lower_case) noexcept;

// A number as written: 1,234.50 has integer "1,234", fraction "50".
struct WrittenNumber {
  std::string_view integer;
  std::string_view fraction;  // empty without a decimal point
  std::uint64_t value = 0;    // of the integer part; only when `fits`
  std::size_t end = 0;        // offset after the last digit
  bool fits = false;          // at most 18 digits
  bool grouped = false;       // written with thousands separators

  std::size_t num_digits() const noexcept;
};
std::optional<WrittenNumber> read_number(std::string_view text, std::size_t at) noexcept;

// Value of a plain run of at most 18 digits.
std::uint64_t digits_value(std::string_view digits) noexcept;

// Space between what a rule says and its neighbours.
void open_gap(std::string& out);
void close_gap(std::string_view text, std::size_t end, std::string& out);

// Adds `word` with its gaps for what ends before `end`, or one space where nothing is spoken.
void say_word(std::string_view text, std::size_t end, std::string_view word, std::string& out);

// Leaves single spaces between words and none at the ends.
void squeeze_spaces(std::string& text) noexcept;

}  // namespace stoker::text
