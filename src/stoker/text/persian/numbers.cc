#include <algorithm>
#include <array>

#include "stoker/text/number_words.h"
#include "stoker/text/persian/rules.h"
#include "stoker/text/scan.h"

namespace stoker::text::persian {
namespace {

constexpr std::string_view kComma = "،";
constexpr std::string_view kPoint = " ممیز ";
constexpr std::size_t kMostDigits = 18;
constexpr std::size_t kMostCardinalDigits = 15;

std::size_t count_digits(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), is_digit));
}

// The end of ",345" or "،345" at `at`, or `at` when there is none.
std::size_t group_end(std::string_view text, std::size_t at) noexcept {
  std::size_t start = at;
  if (peek(text, at) == ',') start = at + 1;
  if (has_at(text, at, kComma)) start = at + kComma.size();
  return start != at && digits_end(text, start) == start + 3 ? start + 3 : at;
}

struct Sign {
  std::string_view sign;
  std::string_view words;
};
constexpr std::array<Sign, 18> kFractionSigns{{{"½", "نیم"},
                                               {"¼", "یک چهارم"},
                                               {"¾", "سه چهارم"},
                                               {"⅓", "یک سوم"},
                                               {"⅔", "دو سوم"},
                                               {"⅕", "یک پنجم"},
                                               {"⅖", "دو پنجم"},
                                               {"⅗", "سه پنجم"},
                                               {"⅘", "چهار پنجم"},
                                               {"⅙", "یک ششم"},
                                               {"⅚", "پنج ششم"},
                                               {"⅐", "یک هفتم"},
                                               {"⅛", "یک هشتم"},
                                               {"⅜", "سه هشتم"},
                                               {"⅝", "پنج هشتم"},
                                               {"⅞", "هفت هشتم"},
                                               {"⅑", "یک نهم"},
                                               {"⅒", "یک دهم"}}};

const Sign* fraction_sign_at(std::string_view text, std::size_t at) noexcept {
  for (const Sign& sign : kFractionSigns) {
    if (has_at(text, at, sign.sign)) return &sign;
  }
  return nullptr;
}

// What a slash between two numbers means is told by what follows: a measured thing has a decimal.
bool is_measured(std::string_view text, std::size_t end) noexcept {
  constexpr std::array<std::string_view, 16> kMeasures{
      "درصد",    "میلیون", "میلیارد", "هزار", "تریلیون", "متر",   "کیلومتر", "کیلو",
      "کیلوگرم", "گرم",    "درجه",    "لیتر", "سانتی",   "تومان", "دلار",    "ریال"};
  const std::string_view word = word_after(text, end);
  return has_unit_after(text, end) ||
         std::find(kMeasures.begin(), kMeasures.end(), word) != kMeasures.end();
}

}  // namespace

std::optional<Amount> read_amount(std::string_view text, std::size_t at) noexcept {
  std::size_t end = digits_end(text, at);
  if (end == at) return std::nullopt;
  if (end - at <= 3) {
    for (std::size_t next = group_end(text, end); next != end; next = group_end(text, end))
      end = next;
  }
  Amount amount{text.substr(at, end - at), {}, 0, end};
  if (peek(text, end) == '.' && is_digit(peek(text, end + 1))) {
    amount.end = digits_end(text, end + 1);
    amount.fraction = text.substr(end + 1, amount.end - end - 1);
  }
  if (count_digits(amount.integer) <= kMostDigits) amount.value = digits_value(amount.integer);
  return amount;
}

void append_amount(std::string& out, const Amount& amount) {
  const bool zeros_first = amount.integer.size() > 1 && amount.integer.front() == '0';
  if (count_digits(amount.integer) > kMostCardinalDigits ||
      (zeros_first && amount.fraction.empty())) {
    append_digits(out, amount.integer);
  } else {
    append_cardinal(out, amount.value);
  }
  if (amount.fraction.empty()) return;
  out += kPoint;
  append_decimals(out, amount.fraction);
}

std::string_view scale_after(std::string_view text, std::size_t at, std::size_t& end) noexcept {
  constexpr std::array<std::string_view, 4> kScales{"هزار", "میلیون", "میلیارد", "تریلیون"};
  const std::string_view word = word_after(text, at);
  if (std::find(kScales.begin(), kScales.end(), word) == kScales.end()) return {};
  end = spaces_end(text, at) + word.size();
  return word;
}

std::size_t read_cardinal(std::string_view text, std::size_t at, std::string& out) {
  const auto amount = read_amount(text, at);
  open_gap(out);
  append_amount(out, *amount);
  const Sign* sign = fraction_sign_at(text, amount->end);
  std::size_t end = amount->end;
  if (sign != nullptr) {
    out += " و ";
    out += sign->words;
    end = append_unit_after(text, end + sign->sign.size(), out);
  }
  close_gap(text, end, out);
  return end - at;
}

// 5م, 5ام, 5‌ام, 5 ام
std::size_t read_ordinal(std::string_view text, std::size_t at, std::string& out) {
  const auto amount = read_amount(text, at);
  if (!amount || !amount->fraction.empty()) return 0;
  std::size_t start = amount->end;
  if (has_at(text, start, "\u200C")) start += 3;
  const bool apart = peek(text, start) == ' ';
  if (apart) start = spaces_end(text, start);
  const std::size_t end = word_end(text, start);
  const std::string_view suffix = text.substr(start, end - start);
  std::string_view rest;
  if (suffix == "مین" || suffix == "امین") {
    rest = "ین";
  } else if (suffix != "ام" && (suffix != "م" || apart)) {
    return 0;
  }
  open_gap(out);
  append_ordinal(out, amount->value);
  out += rest;
  return end - at;
}

// 1/2 is a fraction; 2/5 درصد and 3/14 are decimals, as Persian writes them by hand.
std::size_t read_fraction(std::string_view text, std::size_t at, std::string& out) {
  const Sign* sign = fraction_sign_at(text, at);
  if (sign != nullptr) {
    open_gap(out);
    out += sign->words;
    const std::size_t end = append_unit_after(text, at + sign->sign.size(), out);
    close_gap(text, end, out);
    return end - at;
  }
  const std::size_t slash = digits_end(text, at);
  const std::size_t end = digits_end(text, slash + 1);
  if (slash == at || slash - at > 9 || peek(text, slash) != '/' || end == slash + 1 ||
      end - slash > 7 || peek(text, end) == '/')
    return 0;
  const std::string_view first = text.substr(at, slash - at);
  const std::string_view second = text.substr(slash + 1, end - slash - 1);
  const bool divides = digits_value(first) < digits_value(second) && digits_value(first) != 0 &&
                       digits_value(second) <= 1000 && second.front() != '0' &&
                       !is_measured(text, end);
  open_gap(out);
  append_cardinal(out, digits_value(first));
  if (divides) {
    out += ' ';
    append_ordinal(out, digits_value(second));
  } else {
    out += kPoint;
    append_decimals(out, second);
  }
  const std::size_t unit_end = append_unit_after(text, end, out);
  close_gap(text, unit_end, out);
  return unit_end - at;
}

// The first number and the dash; the second is read by its own rule.
std::size_t read_range(std::string_view text, std::size_t at, std::string& out) {
  const auto first = read_amount(text, at);
  if (!first || peek(text, first->end) != '-') return 0;
  const auto second = read_amount(text, first->end + 1);
  if (!second || peek(text, second->end) == '-') return 0;
  open_gap(out);
  append_amount(out, *first);
  out += " تا ";
  return first->end + 1 - at;
}

std::size_t read_signed(std::string_view text, std::size_t at, std::string& out) {
  const char sign = text[at];
  if ((sign != '-' && sign != '+') || !is_digit(peek(text, at + 1))) return 0;
  if (at > 0 && (is_word_or_digit(text, at - 1) || text[at - 1] == ')')) return 0;
  open_gap(out);
  out += sign == '-' ? "منفی " : "مثبت ";
  return 1;
}

// Numbers that start with zero are telephone numbers or codes: digit by digit.
std::size_t read_phone(std::string_view text, std::size_t at, std::string& out) {
  std::size_t end = digits_end(text, at);
  if (text[at] != '0' || end - at < 3) return 0;
  while ((peek(text, end) == '-' || peek(text, end) == ' ') && digits_end(text, end + 1) >= end + 4)
    end = digits_end(text, end + 1);
  open_gap(out);
  append_digits(out, text.substr(at, end - at));
  close_gap(text, end, out);
  return end - at;
}

}  // namespace stoker::text::persian
