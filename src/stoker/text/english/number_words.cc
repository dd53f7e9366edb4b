#include "stoker/text/number_words.h"

#include <array>

namespace stoker::text::english {
namespace {

constexpr std::array<std::string_view, 20> kSmall{
    "zero",     "one",     "two",     "three",     "four",     "five",    "six",
    "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr std::array<std::string_view, 10> kTens{"",      "",      "twenty",  "thirty", "forty",
                                                 "fifty", "sixty", "seventy", "eighty", "ninety"};

struct Scale {
  std::uint64_t value;
  std::string_view word;
};
constexpr std::array<Scale, 6> kScales{{{1'000'000'000'000'000'000U, "quintillion"},
                                        {1'000'000'000'000'000U, "quadrillion"},
                                        {1'000'000'000'000U, "trillion"},
                                        {1'000'000'000U, "billion"},
                                        {1'000'000U, "million"},
                                        {1'000U, "thousand"}}};

struct Irregular {
  std::string_view cardinal;
  std::string_view ordinal;
};
constexpr std::array<Irregular, 7> kIrregular{{{"one", "first"},
                                               {"two", "second"},
                                               {"three", "third"},
                                               {"five", "fifth"},
                                               {"eight", "eighth"},
                                               {"nine", "ninth"},
                                               {"twelve", "twelfth"}}};

void append_below_hundred(std::string& out, std::uint64_t value) {
  if (value < kSmall.size()) {
    out += kSmall[value];
    return;
  }
  out += kTens[value / 10];
  if (value % 10 == 0) return;
  out += '-';
  out += kSmall[value % 10];
}

void append_below_thousand(std::string& out, std::uint64_t value) {
  if (value >= 100) {
    out += kSmall[value / 100];
    out += " hundred";
    value %= 100;
    if (value == 0) return;
    out += ' ';
  }
  append_below_hundred(out, value);
}

std::size_t last_word_start(const std::string& out) {
  const std::size_t gap = out.find_last_of(" -");
  return gap == std::string::npos ? 0 : gap + 1;
}

// nineteen oh five, ten sixty-six, nineteen hundred
void append_century_and_rest(std::string& out, std::uint64_t value) {
  append_below_hundred(out, value / 100);
  const std::uint64_t rest = value % 100;
  if (rest == 0) {
    out += " hundred";
    return;
  }
  out += rest < 10 ? " oh " : " ";
  append_below_hundred(out, rest);
}

}  // namespace

void append_cardinal(std::string& out, std::uint64_t value) {
  bool first = true;
  for (const Scale& scale : kScales) {
    if (value < scale.value) continue;
    if (!first) out += ' ';
    append_below_thousand(out, value / scale.value);
    out += ' ';
    out += scale.word;
    value %= scale.value;
    first = false;
  }
  if (value == 0 && !first) return;
  if (!first) out += ' ';
  append_below_thousand(out, value);
}

void append_ordinal(std::string& out, std::uint64_t value) {
  append_cardinal(out, value);
  const std::size_t start = last_word_start(out);
  const std::string_view last = std::string_view(out).substr(start);
  for (const Irregular& word : kIrregular) {
    if (last != word.cardinal) continue;
    out.replace(start, std::string::npos, word.ordinal);
    return;
  }
  if (out.back() == 'y') {
    out.back() = 'i';
    out += 'e';
  }
  out += "th";
}

void append_year(std::string& out, std::uint64_t value) {
  const bool by_thousand = value < 1010 || value % 1000 == 0 || (value >= 2000 && value < 2010);
  if (by_thousand || value >= 10'000) {
    append_cardinal(out, value);
  } else {
    append_century_and_rest(out, value);
  }
}

void append_decade(std::string& out, std::uint64_t value) {
  if (value < 100) {
    append_below_hundred(out, value);
  } else {
    append_year(out, value);
  }
  pluralize_last(out);
}

void append_digits(std::string& out, std::string_view digits) {
  bool first = true;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') continue;
    if (!first) out += ' ';
    out += kSmall[static_cast<std::size_t>(digit - '0')];
    first = false;
  }
}

void pluralize_last(std::string& out) {
  if (out.ends_with("half")) {
    out.replace(out.size() - 1, 1, "ves");
  } else if (out.ends_with('y')) {
    out.replace(out.size() - 1, 1, "ies");
  } else if (out.ends_with("six")) {
    out += "es";
  } else {
    out += 's';
  }
}

}  // namespace stoker::text::english
