#include <array>

#include "stoker/text/number_words.h"
#include "stoker/text/persian/rules.h"
#include "stoker/text/scan.h"

namespace stoker::text::persian {
namespace {

constexpr std::array<std::string_view, 12> kJalali{"فروردین", "اردیبهشت", "خرداد", "تیر",
                                                   "مرداد",   "شهریور",   "مهر",   "آبان",
                                                   "آذر",     "دی",       "بهمن",  "اسفند"};
constexpr std::array<std::string_view, 12> kGregorian{"ژانویه",  "فوریه", "مارس",   "آوریل",
                                                      "مه",      "ژوئن",  "ژوئیه",  "اوت",
                                                      "سپتامبر", "اکتبر", "نوامبر", "دسامبر"};
constexpr std::uint64_t kFirstGregorian = 1700;

struct Parts {
  std::uint64_t value[3] = {};
  std::size_t num_digits[3] = {};
  std::size_t end = 0;  // 0 when there are not three parts
};

Parts parts_at(std::string_view text, std::size_t at) noexcept {
  Parts parts;
  std::size_t start = at;
  char separator = '\0';
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t end = digits_end(text, start);
    if (end == start || end - start > 4) return {};
    parts.value[i] = digits_value(text.substr(start, end - start));
    parts.num_digits[i] = end - start;
    if (i == 2) {
      parts.end = end;
      break;
    }
    if (i == 0) separator = peek(text, end);
    if (peek(text, end) != separator || (separator != '/' && separator != '-')) return {};
    start = end + 1;
  }
  return peek(text, parts.end) == separator ? Parts{} : parts;
}

}  // namespace

// 1402/05/12 and 12/5/1402; years from 1700 on are Gregorian.
std::size_t read_date(std::string_view text, std::size_t at, std::string& out) {
  const Parts parts = parts_at(text, at);
  if (parts.end == 0) return 0;
  // 98/12/25: a year without its century, since no month has 98 days.
  const bool short_year = parts.num_digits[0] == 2 && parts.value[0] > 31;
  const bool year_first = parts.num_digits[0] == 4 || short_year;
  if (!year_first && parts.num_digits[2] != 4) return 0;
  const std::uint64_t year = parts.value[year_first ? 0 : 2];
  const std::uint64_t month = parts.value[1];
  const std::uint64_t day = parts.value[year_first ? 2 : 0];
  if (month < 1 || month > 12 || day < 1 || day > 31) return 0;
  open_gap(out);
  append_ordinal(out, day);
  out += ' ';
  out += (year >= kFirstGregorian ? kGregorian : kJalali)[month - 1];
  out += ' ';
  append_cardinal(out, year);
  close_gap(text, parts.end, out);
  return parts.end - at;
}

// 15:30 پانزده و سی دقیقه
std::size_t read_time(std::string_view text, std::size_t at, std::string& out) {
  const std::size_t colon = digits_end(text, at);
  std::size_t end = digits_end(text, colon + 1);
  if (colon - at > 2 || peek(text, colon) != ':' || end - colon != 3) return 0;
  const std::uint64_t hours = digits_value(text.substr(at, colon - at));
  const std::uint64_t minutes = digits_value(text.substr(colon + 1, 2));
  if (hours > 24 || minutes > 59) return 0;
  open_gap(out);
  append_cardinal(out, hours);
  if (minutes != 0) {
    out += " و ";
    append_cardinal(out, minutes);
    out += " دقیقه";
  }
  if (peek(text, end) == ':' && digits_end(text, end + 1) == end + 3) {
    out += " و ";
    append_cardinal(out, digits_value(text.substr(end + 1, 2)));
    out += " ثانیه";
    end += 3;
  }
  close_gap(text, end, out);
  return end - at;
}

// 1357 ه.ش, 1979م, 2500 ق.م: a year and its era.
std::size_t read_era(std::string_view text, std::size_t at, std::string& out) {
  struct Era {
    std::string_view written;
    std::string_view spoken;
    bool is_letter_alone;
  };
  constexpr std::array<Era, 12> kEras{{{"ه.ش.", "هجری شمسی", false},
                                       {"ه.ش", "هجری شمسی", false},
                                       {"ه. ش.", "هجری شمسی", false},
                                       {"ه.ق.", "هجری قمری", false},
                                       {"ه.ق", "هجری قمری", false},
                                       {"ه. ق.", "هجری قمری", false},
                                       {"ق.م.", "قبل از میلاد", false},
                                       {"ق.م", "قبل از میلاد", false},
                                       {"م.", "میلادی", true},
                                       {"م", "میلادی", true},
                                       {"ش", "شمسی", true},
                                       {"ق", "قمری", true}}};
  const auto amount = read_amount(text, at);
  if (!amount || !amount->fraction.empty()) return 0;
  const std::size_t start = spaces_end(text, amount->end);
  for (const Era& era : kEras) {
    const std::size_t end = start + era.written.size();
    if (!has_at(text, start, era.written) || is_word_or_digit(text, end)) continue;
    if (era.is_letter_alone && (amount->value < 1000 || amount->value > 2100)) continue;
    open_gap(out);
    append_cardinal(out, amount->value);
    out += ' ';
    out += era.spoken;
    return end - at;
  }
  return 0;
}

}  // namespace stoker::text::persian
