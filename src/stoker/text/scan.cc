#include "stoker/text/scan.h"

namespace stoker::text {
namespace {

constexpr std::size_t kMostDigits = 18;

std::size_t word_start(std::string_view text, std::size_t end) noexcept {
  std::size_t start = end;
  while (start > 0 && is_word_byte(text, start - 1)) --start;
  return start;
}

// ",345" not followed by a further digit.
bool is_group(std::string_view text, std::size_t at) noexcept {
  return peek(text, at) == ',' && digits_end(text, at + 1) == at + 4;
}

}  // namespace

bool is_foreign_word_byte(std::string_view text, std::size_t at) noexcept {
  // A continuation byte belongs to the character whose first byte is the last one above 0xBF.
  std::size_t lead = at;
  while (lead > 0 && (static_cast<unsigned char>(text[lead]) & 0xC0U) == 0x80) --lead;
  const auto first = static_cast<unsigned char>(text[lead]);
  if (first == 0xC2 || first == 0xE2) return false;
  const auto second = static_cast<unsigned char>(peek(text, lead + 1));
  if (first == 0xC3) return second != 0x97 && second != 0xB7;                    // × and ÷
  if (first == 0xD8) return second != 0x8C && second != 0x9B && second != 0x9F;  // ، ؛ ؟
  return true;
}

std::string_view word_before(std::string_view text, std::size_t at) noexcept {
  std::size_t end = at;
  while (end > 0 && text[end - 1] == ' ') --end;
  if (end > 0 && text[end - 1] == '.') --end;
  const std::size_t start = word_start(text, end);
  return text.substr(start, end - start);
}

std::string_view word_after(std::string_view text, std::size_t at) noexcept {
  const std::size_t start = spaces_end(text, at);
  return text.substr(start, word_end(text, start) - start);
}

bool same_word(std::string_view a, std::string_view lower_case) noexcept {
  if (a.size() != lower_case.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (to_lower(a[i]) != lower_case[i]) return false;
  }
  return true;
}

std::size_t WrittenNumber::num_digits() const noexcept {
  std::size_t count = 0;
  for (const char c : integer) count += is_digit(c) ? 1 : 0;
  return count;
}

std::optional<WrittenNumber> read_number(std::string_view text, std::size_t at) noexcept {
  std::size_t end = digits_end(text, at);
  if (end == at) return std::nullopt;
  WrittenNumber number;
  if (end - at <= 3) {
    while (is_group(text, end)) {
      end += 4;
      number.grouped = true;
    }
  }
  number.integer = text.substr(at, end - at);
  if (peek(text, end) == '.' && is_digit(peek(text, end + 1))) {
    const std::size_t fraction_end = digits_end(text, end + 1);
    number.fraction = text.substr(end + 1, fraction_end - end - 1);
    end = fraction_end;
  }
  number.end = end;
  number.fits = number.num_digits() <= kMostDigits;
  if (number.fits) number.value = digits_value(number.integer);
  return number;
}

std::uint64_t digits_value(std::string_view digits) noexcept {
  std::uint64_t value = 0;
  for (const char c : digits) {
    if (is_digit(c)) value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

void open_gap(std::string& out) {
  if (out.empty()) return;
  const char last = out.back();
  if (last != ' ' && last != '(' && last != '[' && last != '"' && last != '\'' && last != '-')
    out += ' ';
}

void close_gap(std::string_view text, std::size_t end, std::string& out) {
  if (is_word_or_digit(text, end)) out += ' ';
}

void say_word(std::string_view text, std::size_t end, std::string_view word, std::string& out) {
  if (word.empty()) {
    out += ' ';
    return;
  }
  open_gap(out);
  out += word;
  close_gap(text, end, out);
}

void squeeze_spaces(std::string& text) noexcept {
  std::size_t kept = 0;
  bool pending = false;
  for (const char c : text) {
    if (c == ' ') {
      pending = kept > 0;
      continue;
    }
    if (pending) text[kept++] = ' ';
    pending = false;
    text[kept++] = c;
  }
  text.resize(kept);
}

}  // namespace stoker::text
