#include "stoker/data/voice/sentence.h"

#include <array>
#include <cstdint>

#include "stoker/base/invariant.h"
#include "stoker/data/voice/spelling.h"
#include "stoker/text/number_words.h"

namespace stoker::data::voice {
namespace {

struct WrittenAndRead {
  std::string written;  // "$5"
  std::string read;     // "five dollars"
};

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

// A number of `kind`: count, year, hour, price, percent, ordinal or distance.
WrittenAndRead draw_number(Language language, std::string_view kind, KeyedDraws& draws) {
  return language == Language::kPersian ? draw_persian(kind, draws) : draw_english(kind, draws);
}

class Expander {
 public:
  Expander(Language language, KeyedDraws& draws)
      : language_(language),
        grammar_(language == Language::kPersian ? persian_grammar() : english_grammar()),
        draws_(draws) {}

  // Appends one phrase of the list `name` to both texts.
  void expand_list(std::string_view name) {
    for (const PhraseList& list : grammar_.lists) {
      if (list.name != name) continue;
      expand_phrase(list.phrases[draws_.next_below(list.phrases.size())]);
      return;
    }
    check_invariant(false, "the grammar names a list that does not exist");
  }

  Sentence finish() {
    capitalise(written_);
    capitalise(read_);
    return {drop_vowel_signs(written_), drop_vowel_signs(read_), read_};
  }

 private:
  void expand_phrase(std::string_view phrase) {
    while (!phrase.empty()) {
      const std::size_t special = phrase.find_first_of("{<");
      put(phrase.substr(0, special));
      if (special == std::string_view::npos) return;
      const std::size_t end = phrase.find_first_of("}>", special);
      check_invariant(end != std::string_view::npos, "a phrase of the grammar lacks its bracket");
      expand_special(phrase[special], phrase.substr(special + 1, end - special - 1));
      phrase.remove_prefix(end + 1);
    }
  }

  void expand_special(char bracket, std::string_view inside) {
    if (bracket == '<') {
      const std::size_t equals = inside.find('=');
      written_ += inside.substr(0, equals);
      read_ += inside.substr(equals + 1);
    } else if (inside.starts_with('#')) {
      const WrittenAndRead number = draw_number(language_, inside.substr(1), draws_);
      written_ += number.written;
      read_ += number.read;
    } else {
      expand_list(inside);
    }
  }

  void put(std::string_view both) {
    written_ += both;
    read_ += both;
  }

  static void capitalise(std::string& text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') {
      text[0] = static_cast<char>(text[0] - 'a' + 'A');
    }
  }

  Language language_;
  const Grammar& grammar_;
  KeyedDraws& draws_;
  std::string written_;
  std::string read_;
};

}  // namespace

Sentence draw_sentence(Language language, SentenceSize size, KeyedDraws& draws) {
  Expander expander(language, draws);
  switch (size) {
    case SentenceSize::kShort:
      expander.expand_list("short");
      break;
    case SentenceSize::kPlain:
      expander.expand_list("plain");
      break;
    case SentenceSize::kLong:
      expander.expand_list("long");
      break;
  }
  return expander.finish();
}

}  // namespace stoker::data::voice
