#include <algorithm>
#include <array>

#include "stoker/text/english/rules.h"

namespace stoker::text::english {
namespace {

// Acronyms with vowels that are spelled all the same; sorted.
constexpr std::array<std::string_view, 40> kSpelled{
    "AARP", "ABBA", "ACLU", "AFAIK", "AMD",   "ANSI",  "ASAP",  "AWS",   "BAFTA", "BASF",
    "CFO",  "CIA",  "CNBC", "ECMA",  "ESPN",  "EULA",  "FIDE",  "HDMI",  "HVAC",  "IATA",
    "IEEE", "IMDB", "IOU",  "ISBN",  "ISO",   "IUPAC", "LGBTQ", "MSNBC", "NAACP", "NCAA",
    "NYPD", "OECD", "RSVP", "UCLA",  "UNHCR", "URL",   "USAF",  "USDA",  "USSR",  "WASP"};

// Short acronyms that are read as words; sorted.
constexpr std::array<std::string_view, 20> kSpoken{
    "AIDS", "BIOS", "COVID", "DOS", "FIFA", "GIF", "ISIS", "JPEG", "LAN",  "NASA",
    "NATO", "OPEC", "PIN",   "RAM", "ROM",  "SAD", "SARS", "SIM",  "SWAT", "WAN"};

// Ordinary short words that people write in capitals for emphasis; sorted.
constexpr std::array<std::string_view, 84> kWords{
    "ALL", "AM",  "AN",  "AND", "ANY", "ARE", "AS",  "ASK", "AT",  "BAD", "BE",  "BIG",
    "BUT", "BUY", "BY",  "CAN", "DAY", "DID", "DO",  "END", "FAR", "FEW", "FOR", "FUN",
    "GET", "GO",  "GOD", "GOT", "HAD", "HAS", "HE",  "HER", "HIM", "HIS", "HOT", "HOW",
    "IF",  "IN",  "IS",  "IT",  "ITS", "JOB", "LET", "MAN", "MAY", "ME",  "MEN", "MY",
    "NEW", "NO",  "NOR", "NOT", "NOW", "OF",  "OFF", "OLD", "ON",  "ONE", "OR",  "OUR",
    "OUT", "OWN", "PAY", "PUT", "RED", "RUN", "SAY", "SEE", "SHE", "SO",  "THE", "TO",
    "TOO", "TOP", "TRY", "TWO", "UP",  "WAS", "WE",  "WHO", "WHY", "WIN", "YES", "YOU"};

// Letters that mean other words than themselves.
struct Named {
  std::string_view written;
  std::string_view spoken;
};
constexpr std::array<Named, 4> kNamed{{{"OK", "okay"},
                                       {"WWI", "World War One"},
                                       {"WWII", "World War Two"},
                                       {"NAACP", "N double A C P"}}};

template <std::size_t N>
bool listed(const std::array<std::string_view, N>& list, std::string_view word) noexcept {
  return std::binary_search(list.begin(), list.end(), word);
}

bool has_vowel(std::string_view word) noexcept {
  return word.find_first_of("AEIOUY") != std::string_view::npos;
}

// Short capitals are letters unless they are a known word; longer ones are words unless they are
// unpronounceable or known to be spelled.
bool is_spelled(std::string_view word) noexcept {
  if (listed(kSpelled, word)) return true;
  if (listed(kSpoken, word) || listed(kWords, word)) return false;
  return word.size() <= 3 || !has_vowel(word);
}

// Whether a neighbouring word is shouted too: "DO NOT ENTER" holds no acronyms.
bool is_shouted(std::string_view text, std::size_t at, std::size_t end) noexcept {
  const auto loud = [](std::string_view word) {
    return word.size() > 3 && has_vowel(word) && !listed(kSpelled, word) &&
           !listed(kSpoken, word) && std::all_of(word.begin(), word.end(), is_upper);
  };
  return loud(word_before(text, at)) || loud(word_after(text, end));
}

std::size_t upper_end(std::string_view text, std::size_t at) noexcept {
  while (is_upper(peek(text, at))) ++at;
  return at;
}

// "U.S.A." from `at`: the offset after the last letter-and-stop pair, or `at`.
std::size_t dotted_end(std::string_view text, std::size_t at) noexcept {
  std::size_t end = at;
  while (is_letter(peek(text, end)) && peek(text, end + 1) == '.' && !is_digit(peek(text, end + 2)))
    end += 2;
  return end;
}

// The degrees and the like whose letters do not come one by one: Ph.D.
std::size_t read_degree(std::string_view text, std::size_t at, std::string& out) {
  constexpr std::string_view kDoctorate = "Ph.D";
  if (!has_at(text, at, kDoctorate)) return 0;
  append_spelled(out, "PHD");
  const std::size_t end = at + kDoctorate.size();
  return peek(text, end) == '.' ? take_stop(text, end, out) - at : end - at;
}

}  // namespace

void append_spelled(std::string& out, std::string_view letters) {
  bool first = true;
  for (const char letter : letters) {
    if (!is_letter(letter)) continue;
    if (!first) out += ' ';
    out += letter;
    first = false;
  }
}

// U.S., p.m., J. K. Rowling
std::size_t read_initials(std::string_view text, std::size_t at, std::string& out) {
  if (is_word_or_digit(text, at == 0 ? text.size() : at - 1)) return 0;
  const std::size_t degree = read_degree(text, at, out);
  if (degree != 0) return degree;
  const std::size_t end = dotted_end(text, at);
  if (end == at || is_lower(peek(text, end))) return 0;
  if (end == at + 2) {
    // A single letter is an initial only in front of a name, and "I." mostly ends a sentence.
    const char next = peek(text, spaces_end(text, end));
    const bool after_word =
        is_lower(word_before(text, at).empty() ? 'A' : word_before(text, at).front());
    if (!is_upper(text[at]) || !is_upper(next) || (text[at] == 'I' && after_word)) return 0;
  }
  append_spelled(out, text.substr(at, end - at));
  const std::size_t taken = take_stop(text, end - 1, out) - at;
  if (is_word_or_digit(text, end)) out += ' ';
  return taken;
}

// FBI, DVDs, MP3
std::size_t read_acronym(std::string_view text, std::size_t at, std::string& out) {
  const std::size_t end = upper_end(text, at);
  if (end - at < 2 || is_word_byte(text, at == 0 ? text.size() : at - 1)) return 0;
  const std::string_view word = text.substr(at, end - at);
  const bool plural = peek(text, end) == 's' && !is_word_or_digit(text, end + 1);
  if (is_word_byte(text, end) && !plural) return 0;
  for (const Named& named : kNamed) {
    if (word != named.written || plural) continue;
    out += named.spoken;
    return end - at;
  }
  const bool joined = peek(text, end) == '&' || before(text, at) == '&';
  if (!joined && (!is_spelled(word) || is_shouted(text, at, end))) return 0;
  append_spelled(out, word);
  if (plural) out += 's';
  close_gap(text, end + (plural ? 1 : 0), out);
  return end - at + (plural ? 1 : 0);
}

}  // namespace stoker::text::english
