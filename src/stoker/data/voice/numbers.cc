#include "stoker/data/voice/numbers.h"

#include <array>

#include "stoker/base/invariant.h"
#include "stoker/text/number_words.h"

namespace stoker::data::voice {
namespace {

constexpr std::array<std::string_view, 10> kPersianDigits{"۰", "۱", "۲", "۳", "۴",
                                                          "۵", "۶", "۷", "۸", "۹"};
constexpr std::array<std::uint64_t, 6> kMinutes{10, 15, 20, 30, 40, 45};

std::uint64_t draw_between(KeyedDraws& draws, std::uint64_t low, std::uint64_t high) {
  return low + draws.next_below(high - low + 1);
}

std::string english_cardinal(std::uint64_t value) {
  std::string out;
  text::english::append_cardinal(out, value);
  return out;
}

std::string persian_cardinal(std::uint64_t value) {
  std::string out;
  text::persian::append_cardinal(out, value);
  return out;
}

std::string persian_digits(std::uint64_t value) {
  std::string out;
  for (const char digit : std::to_string(value)) {
    out += kPersianDigits[static_cast<std::size_t>(digit - '0')];
  }
  return out;
}

WrittenAndRead english_year(KeyedDraws& draws) {
  const std::uint64_t year = draw_between(draws, 1710, 1999);
  WrittenAndRead out{std::to_string(year), {}};
  text::english::append_year(out.read, year);
  return out;
}

WrittenAndRead english_hour(KeyedDraws& draws) {
  const std::uint64_t hour = draw_between(draws, 1, 12);
  const std::uint64_t minute = kMinutes[draws.next_below(kMinutes.size())];
  return {std::to_string(hour) + ":" + std::to_string(minute),
          english_cardinal(hour) + " " + english_cardinal(minute)};
}

WrittenAndRead english_ordinal(KeyedDraws& draws) {
  constexpr std::array<std::string_view, 4> kEndings{"th", "st", "nd", "rd"};
  const std::uint64_t value = draw_between(draws, 2, 12);
  WrittenAndRead out{std::to_string(value), {}};
  out.written += value < kEndings.size() ? kEndings[value] : kEndings[0];
  text::english::append_ordinal(out.read, value);
  return out;
}

WrittenAndRead draw_english(std::string_view kind, KeyedDraws& draws) {
  if (kind == "year") return english_year(draws);
  if (kind == "hour") return english_hour(draws);
  if (kind == "ordinal") return english_ordinal(draws);
  const std::uint64_t value = draw_between(draws, 2, 99);
  const std::string digits = std::to_string(value);
  const std::string words = english_cardinal(value);
  if (kind == "price") return {"$" + digits, words + " dollars"};
  if (kind == "percent") return {digits + "%", words + " percent"};
  if (kind == "distance") return {digits + " km", words + " kilometers"};
  check_invariant(kind == "count", "the grammar names a kind of number that does not exist");
  return {digits, words};
}

WrittenAndRead draw_persian(std::string_view kind, KeyedDraws& draws) {
  if (kind == "year") {
    const std::uint64_t year = draw_between(draws, 1210, 1399);
    return {persian_digits(year), persian_cardinal(year)};
  }
  const std::uint64_t value = draw_between(draws, 2, kind == "count" ? 12 : 99);
  const std::string digits = persian_digits(value);
  const std::string words = persian_cardinal(value);
  if (kind == "price") {
    return {persian_digits(value * 10) + " تومان", persian_cardinal(value * 10) + " تومان"};
  }
  if (kind == "percent") return {digits + "٪", words + " درصد"};
  if (kind == "distance") return {digits + " کیلومتر", words + " کیلومتر"};
  check_invariant(kind == "count", "the grammar names a kind of number that does not exist");
  return {digits, words};
}

}  // namespace

WrittenAndRead draw_number(Language language, std::string_view kind, KeyedDraws& draws) {
  return language == Language::kPersian ? draw_persian(kind, draws) : draw_english(kind, draws);
}

}  // namespace stoker::data::voice
