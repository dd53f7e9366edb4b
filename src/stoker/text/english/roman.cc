#include <array>

#include "stoker/text/english/rules.h"
#include "stoker/text/number_words.h"

namespace stoker::text::english {
namespace {

// After these a numeral counts: Chapter Four, World War Two.
constexpr std::array<std::string_view, 50> kCounted{
    "war",      "chapter", "part",     "act",       "scene",  "volume", "vol",     "book",
    "section",  "article", "title",    "phase",     "type",   "class",  "grade",   "stage",
    "appendix", "figure",  "table",    "bowl",      "rocky",  "mark",   "level",   "unit",
    "lesson",   "canto",   "psalm",    "division",  "region", "annex",  "episode", "season",
    "step",     "tier",    "schedule", "amendment", "game",   "page",   "column",  "group",
    "corps",    "fantasy", "olympiad", "apollo",    "gemini", "art",    "ch",      "pt",
    "sec",      "fig"};
// Names that kings, queens and popes share; with them even I, V and X are numerals.
constexpr std::array<std::string_view, 62> kReigning{
    "Henry",     "Louis",    "George",    "Edward",    "James",   "Charles",     "William",
    "Richard",   "John",     "Mary",      "Elizabeth", "Philip",  "Ferdinand",   "Frederick",
    "Alexander", "Nicholas", "Catherine", "Peter",     "Paul",    "Pius",        "Benedict",
    "Leo",       "Gregory",  "Clement",   "Innocent",  "Urban",   "Boniface",    "Napoleon",
    "Ramses",    "Ptolemy",  "Xerxes",    "Darius",    "Cyrus",   "Constantine", "Christian",
    "Gustav",    "Carl",     "Haakon",    "Olav",      "Alfonso", "Juan",        "Carlos",
    "Felipe",    "Pedro",    "Ivan",      "Mehmed",    "Murad",   "Selim",       "Otto",
    "Wilhelm",   "Albert",   "Leopold",   "Robert",    "David",   "Stephen",     "Victor",
    "Emmanuel",  "Margaret", "Francis",   "Joseph",    "Sixtus",  "Julius"};
// What may follow "Elizabeth I" when the letter is a numeral and not the speaker.
constexpr std::array<std::string_view, 16> kAfterFirst{
    "of",  "was", "is",  "and", "died", "became", "ruled", "reigned",
    "had", "in",  "who", "to",  "as",   "by",     "on",    "at"};

template <std::size_t N>
bool listed(const std::array<std::string_view, N>& list, std::string_view word) noexcept {
  for (const std::string_view entry : list) {
    if (word == entry || same_word(word, entry)) return true;
  }
  return false;
}

int digit_value(char c) noexcept {
  switch (c) {
    case 'I':
      return 1;
    case 'V':
      return 5;
    case 'X':
      return 10;
    case 'L':
      return 50;
    case 'C':
      return 100;
    case 'D':
      return 500;
    case 'M':
      return 1000;
    default:
      return 0;
  }
}

void append_roman(std::string& out, int value) {
  struct Step {
    int value;
    std::string_view digits;
  };
  constexpr std::array<Step, 13> kSteps{{{1000, "M"},
                                         {900, "CM"},
                                         {500, "D"},
                                         {400, "CD"},
                                         {100, "C"},
                                         {90, "XC"},
                                         {50, "L"},
                                         {40, "XL"},
                                         {10, "X"},
                                         {9, "IX"},
                                         {5, "V"},
                                         {4, "IV"},
                                         {1, "I"}}};
  for (const Step& step : kSteps) {
    for (; value >= step.value; value -= step.value) out += step.digits;
  }
}

// The value of a well-formed numeral, or 0.
int roman_value(std::string_view word) {
  if (word.empty() || word.size() > 15) return 0;
  int total = 0;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const int value = digit_value(word[i]);
    if (value == 0) return 0;
    const int next = i + 1 < word.size() ? digit_value(word[i + 1]) : 0;
    total += value < next ? -value : value;
  }
  if (total <= 0 || total >= 4000) return 0;
  std::string canonical;  // short enough to stay inside the string object
  append_roman(canonical, total);
  return canonical == word ? total : 0;
}

bool only_small_digits(std::string_view word) noexcept {
  return word.find_first_not_of("IVX") == std::string_view::npos;
}

// "I" after a name is a numeral only where a verb of the name follows.
bool first_is_numeral(std::string_view text, std::size_t end) noexcept {
  const std::string_view next = word_after(text, end);
  return next.empty() || peek(text, end) != ' ' || listed(kAfterFirst, next);
}

enum class Reading { kNone, kCardinal, kOrdinal, kNamed, kYear };

Reading reading_of(std::string_view text, std::size_t at, std::size_t end, int value) noexcept {
  const std::string_view word = text.substr(at, end - at);
  const std::string_view prior = before(text, at) == ' ' || before(text, at) == '-'
                                     ? word_before(text, at)
                                     : std::string_view{};
  const std::string_view next = word_after(text, end);
  if (same_word(next, "century") || same_word(next, "centuries")) return Reading::kOrdinal;
  if (listed(kCounted, prior) &&
      (word != "I" || first_is_numeral(text, end) || is_upper(prior.front())))
    return Reading::kCardinal;
  if (listed(kReigning, prior) && is_upper(prior.front()))
    return word != "I" || first_is_numeral(text, end) ? Reading::kNamed : Reading::kNone;
  if (word.size() >= 4 && value >= 1400 && value <= 2100 && word.front() == 'M')
    return Reading::kYear;
  if (word.size() < 2 || !only_small_digits(word) || word == "XX" || word == "XXX")
    return Reading::kNone;
  const bool after_name = prior.size() > 1 && is_upper(prior[0]) && is_lower(prior[1]);
  return after_name && value <= 20 && before(text, at) == ' ' ? Reading::kNamed
                                                              : Reading::kCardinal;
}

// Neither "I'm" nor the initial of a name.
bool may_be_numeral(std::string_view text, std::size_t at, std::size_t end) noexcept {
  const bool possessive = has_at(text, end, "'s") && !is_word_or_digit(text, end + 2);
  if (peek(text, end) == '\'' && !(possessive && end - at > 1)) return false;
  const bool initial =
      end - at == 1 && peek(text, end) == '.' && is_upper(peek(text, spaces_end(text, end + 1)));
  return !initial;
}

}  // namespace

std::size_t read_roman(std::string_view text, std::size_t at, std::string& out) {
  if (digit_value(text[at]) == 0) return 0;
  std::size_t end = at;
  while (digit_value(peek(text, end)) != 0) ++end;
  const bool suffixed = has_at(text, end, "th") && !is_word_or_digit(text, end + 2);
  if (!suffixed && is_word_or_digit(text, end)) return 0;
  if (!may_be_numeral(text, at, end)) return 0;
  const int value = roman_value(text.substr(at, end - at));
  if (value == 0) return 0;
  const Reading reading = suffixed ? Reading::kOrdinal : reading_of(text, at, end, value);
  if (reading == Reading::kNone) return 0;
  const auto amount = static_cast<std::uint64_t>(value);
  if (reading == Reading::kNamed) out += "the ";
  const std::size_t start = out.size();
  if (reading == Reading::kCardinal) append_cardinal(out, amount);
  if (reading == Reading::kYear) append_year(out, amount);
  if (reading == Reading::kOrdinal || reading == Reading::kNamed) append_ordinal(out, amount);
  if (reading == Reading::kNamed ||
      is_upper(word_before(text, at).empty() ? 'a' : word_before(text, at).front())) {
    out[start] = static_cast<char>(out[start] - 32);
  }
  return end + (suffixed ? 2 : 0) - at;
}

}  // namespace stoker::text::english
