#include <array>

#include "stoker/text/english/rules.h"
#include "stoker/text/number_words.h"

namespace stoker::text::english {
namespace {

constexpr std::array<std::string_view, 12> kMonths{"January",   "February", "March",    "April",
                                                   "May",       "June",     "July",     "August",
                                                   "September", "October",  "November", "December"};

struct Date {
  std::uint64_t day = 0;
  int month = 0;
  std::uint64_t year = 0;
  std::size_t end = 0;
};

// Reads 1 or 2 digits that are not part of a longer run; 0 when there are none.
std::uint64_t short_number(std::string_view text, std::size_t at, std::size_t& end) noexcept {
  end = digits_end(text, at);
  return end > at && end - at <= 2 ? digits_value(text.substr(at, end - at)) : 0;
}

std::uint64_t full_year(std::string_view digits) noexcept {
  const std::uint64_t value = digits_value(digits);
  if (digits.size() == 4) return value;
  return value < 50 ? 2000 + value : 1900 + value;
}

bool is_date(const Date& date) noexcept {
  return date.day >= 1 && date.day <= 31 && date.month >= 1 && date.month <= 12;
}

// 2/3/2024 month first, as Americans write it, unless only day first makes sense; 3.2.2024 day
// first, as Europeans do.
Date separated_date(std::string_view text, std::size_t at) noexcept {
  std::size_t first_end = 0;
  const std::uint64_t first = short_number(text, at, first_end);
  const char separator = peek(text, first_end);
  if (first == 0 || (separator != '/' && separator != '.' && separator != '-')) return {};
  std::size_t second_end = 0;
  const std::uint64_t second = short_number(text, first_end + 1, second_end);
  if (second == 0 || peek(text, second_end) != separator) return {};
  const std::size_t end = digits_end(text, second_end + 1);
  const std::string_view year = text.substr(second_end + 1, end - second_end - 1);
  if (year.size() != 4 && (year.size() != 2 || separator != '/')) return {};
  const bool day_first = separator == '.' || first > 12;
  Date date{day_first ? first : second, static_cast<int>(day_first ? second : first),
            full_year(year), end};
  return is_date(date) ? date : Date{};
}

// 2024-02-03, 2024/02/03
Date iso_date(std::string_view text, std::size_t at) noexcept {
  const std::size_t year_end = digits_end(text, at);
  const char separator = peek(text, year_end);
  if (year_end - at != 4 || (separator != '-' && separator != '/')) return {};
  std::size_t month_end = 0;
  const std::uint64_t month = short_number(text, year_end + 1, month_end);
  if (month == 0 || peek(text, month_end) != separator) return {};
  Date date{0, static_cast<int>(month), digits_value(text.substr(at, 4)), 0};
  date.day = short_number(text, month_end + 1, date.end);
  return is_date(date) ? date : Date{};
}

// "on 12/25" without a year.
Date short_date(std::string_view text, std::size_t at) noexcept {
  const std::string_view prior = word_before(text, at);
  if (!same_word(prior, "on") && !same_word(prior, "by") && !same_word(prior, "until")) return {};
  std::size_t month_end = 0;
  const std::uint64_t month = short_number(text, at, month_end);
  if (month == 0 || peek(text, month_end) != '/') return {};
  Date date{0, static_cast<int>(month), 0, 0};
  date.day = short_number(text, month_end + 1, date.end);
  return is_date(date) && peek(text, date.end) != '/' ? date : Date{};
}

// A year right after a day or month: ", 2024" or " 2024"; leaves `end` alone when there is none.
std::uint64_t year_after(std::string_view text, std::size_t at, std::size_t& end) noexcept {
  const std::size_t start = spaces_end(text, peek(text, at) == ',' ? at + 1 : at);
  const std::size_t year_end = digits_end(text, start);
  if (start == at || year_end - start != 4 || is_word_byte(text, year_end)) return 0;
  if (peek(text, year_end) == ':' || peek(text, year_end) == '/') return 0;
  end = year_end;
  return digits_value(text.substr(start, 4));
}

std::size_t skip_ordinal_suffix(std::string_view text, std::size_t at) noexcept {
  const std::size_t end = word_end(text, at);
  const std::string_view suffix = text.substr(at, end - at);
  const bool is_suffix = suffix == "st" || suffix == "nd" || suffix == "rd" || suffix == "th";
  return is_suffix ? end : at;
}

// The month word at `at`, its full stop included; 0 when there is none.
int month_at(std::string_view text, std::size_t at, std::size_t& end) noexcept {
  end = word_end(text, at);
  const int month = month_of(text.substr(at, end - at));
  if (month != 0 && peek(text, end) == '.' && text.substr(at, end - at) != month_name(month)) ++end;
  return month;
}

// "3 March 2024", "3rd of March"
std::size_t read_day_and_month(std::string_view text, std::size_t at, std::string& out) {
  Date date;
  std::size_t end = 0;
  date.day = short_number(text, at, end);
  end = spaces_end(text, skip_ordinal_suffix(text, end));
  if (date.day == 0 || end == digits_end(text, at)) return 0;
  if (has_at(text, end, "of ")) end = spaces_end(text, end + 3);
  date.month = month_at(text, end, date.end);
  if (!is_date(date)) return 0;
  open_gap(out);
  const std::string_view prior = word_before(text, at);
  if (!same_word(prior, "the") && month_of(prior) == 0) out += "the ";
  append_ordinal(out, date.day);
  out += " of ";
  out += month_name(date.month);
  date.year = year_after(text, date.end, date.end);
  if (date.year != 0) {
    out += ' ';
    append_year(out, date.year);
  }
  return date.end - at;
}

// "March 3–5": the second day takes its ordinal too.
std::size_t append_day_range(std::string_view text, std::size_t at, std::string& out) {
  std::size_t end = 0;
  if (peek(text, at) != '-') return at;
  const std::uint64_t day = short_number(text, at + 1, end);
  if (day == 0 || day > 31) return at;
  out += " to ";
  append_ordinal(out, day);
  return skip_ordinal_suffix(text, end);
}

}  // namespace

std::string_view month_name(int month) noexcept {
  return kMonths[static_cast<std::size_t>(month - 1)];
}

int month_of(std::string_view word) noexcept {
  if (word.size() < 3 || !is_upper(word.front())) return 0;
  for (std::size_t i = 0; i < kMonths.size(); ++i) {
    if (word == kMonths[i] || (word.size() == 3 && kMonths[i].starts_with(word)))
      return static_cast<int>(i) + 1;
  }
  return word == "Sept" ? 9 : 0;
}

std::size_t read_date(std::string_view text, std::size_t at, std::string& out) {
  Date date = separated_date(text, at);
  if (date.end == 0) date = iso_date(text, at);
  if (date.end == 0) date = short_date(text, at);
  if (date.end == 0) return read_day_and_month(text, at, out);
  if (is_word_or_digit(text, date.end)) return 0;
  open_gap(out);
  out += month_name(date.month);
  out += ' ';
  append_ordinal(out, date.day);
  if (date.year != 0) {
    out += ", ";
    append_year(out, date.year);
  }
  return date.end - at;
}

// "March 3, 2024", "Mar. 3", "March 2024"
std::size_t read_month(std::string_view text, std::size_t at, std::string& out) {
  std::size_t end = 0;
  const int month = month_at(text, at, end);
  if (month == 0) return 0;
  const std::size_t number = spaces_end(text, end);
  if (number == end || !is_digit(peek(text, number))) return 0;
  std::size_t after = 0;
  const std::uint64_t day = short_number(text, number, after);
  const bool is_time = peek(text, after) == ':' || same_word(word_after(text, after), "p") ||
                       same_word(word_after(text, after), "a");
  const bool is_decimal = peek(text, after) == '.' && is_digit(peek(text, after + 1));
  out += month_name(month);
  if (day == 0 || day > 31 || is_time || is_decimal || peek(text, after) == '%') return end - at;
  out += ' ';
  append_ordinal(out, day);
  after = append_day_range(text, skip_ordinal_suffix(text, after), out);
  const std::uint64_t year = year_after(text, after, after);
  if (year != 0) {
    out += ", ";
    append_year(out, year);
  }
  close_gap(text, after, out);
  return after - at;
}

}  // namespace stoker::text::english
