#include <algorithm>
#include <array>

#include "stoker/text/english/abbreviation_table.h"
#include "stoker/text/english/rules.h"

namespace stoker::text::english {
namespace {

constexpr std::size_t kLongest = 6;

// Words that end a sentence when they follow an abbreviation's full stop: a new one has begun.
constexpr std::array<std::string_view, 22> kOpeners{
    "He", "She", "It",  "They", "We",  "I",    "The",  "A",     "An",   "In",   "On",
    "At", "But", "And", "His",  "Her", "This", "That", "There", "Then", "When", "You"};

const Abbreviation* find(std::string_view word) noexcept {
  if (word.size() > kLongest) return nullptr;
  std::array<char, kLongest> lower{};
  for (std::size_t i = 0; i < word.size(); ++i) lower[i] = to_lower(word[i]);
  const std::string_view key(lower.data(), word.size());
  const auto found =
      std::lower_bound(kAbbreviations.begin(), kAbbreviations.end(), key,
                       [](const Abbreviation& a, std::string_view k) { return a.written < k; });
  return found != kAbbreviations.end() && found->written == key ? &*found : nullptr;
}

bool opens_sentence(std::string_view word) noexcept {
  return std::find(kOpeners.begin(), kOpeners.end(), word) != kOpeners.end();
}

// A new sentence starts after the spaces at `at`; "A. Smith" is a name, not an article.
bool sentence_opens_after(std::string_view text, std::size_t at) noexcept {
  const std::string_view word = word_after(text, at);
  return opens_sentence(word) && peek(text, spaces_end(text, at) + word.size()) != '.';
}

bool name_follows(std::string_view text, std::size_t at) noexcept {
  const std::size_t start = spaces_end(text, at);
  return start != at && is_upper(peek(text, start)) && !sentence_opens_after(text, at);
}

bool name_precedes(std::string_view text, std::size_t at) noexcept {
  if (before(text, at) != ' ') return false;
  const std::string_view word = word_before(text, at);
  if (word.empty()) return at >= 2 && (is_digit(before(text, at - 1)));
  return is_upper(word.front()) && before(text, at - 1) != '.';
}

bool sentence_goes_on(std::string_view text, std::size_t at) noexcept {
  const char next = peek(text, spaces_end(text, at));
  return is_lower(next) || is_digit(next) || next == ',';
}

// "Mon.-Fri." from either side of the dash.
bool joins_days(std::string_view text, std::size_t at, std::size_t end) noexcept {
  const bool before_dash = peek(text, end) == '-' && is_upper(peek(text, end + 1));
  return before_dash || (before(text, at) == '-' && at > 1 && text[at - 2] == '.');
}

bool number_follows(std::string_view text, std::size_t at) noexcept {
  const std::size_t start = spaces_end(text, at);
  const std::string_view word = word_after(text, at);
  const bool roman = !word.empty() && word.find_first_not_of("IVXLC") == std::string_view::npos;
  return is_digit(peek(text, start)) || peek(text, start) == '$' || (roman && start != at);
}

// Months and days shortened without need of a stop are names of their own: March, May, Sun.
bool is_proper(const Abbreviation& entry) noexcept { return is_upper(entry.spoken.front()); }

bool applies(const Abbreviation& entry, std::string_view text, std::size_t at,
             std::size_t end) noexcept {
  switch (entry.when) {
    case When::kBeforeName:
      return name_follows(text, end);
    case When::kBeforeNumber:
      return number_follows(text, end);
    case When::kAfterName:
      return name_precedes(text, at);
    case When::kInside:
      if (!sentence_goes_on(text, end) && !joins_days(text, at, end)) return false;
      break;
    case When::kAlways:
      break;
  }
  return !is_proper(entry) || is_upper(text[at]);
}

void append_in_case(std::string& out, std::string_view spoken, char written) {
  const std::size_t start = out.size();
  out += spoken;
  if (is_upper(written) && is_lower(out[start])) out[start] = static_cast<char>(out[start] - 32);
}

// St. before a name is Saint, after one it is Street; Dr. likewise Doctor and Drive.
std::size_t read_saint_or_street(std::string_view text, std::size_t at, std::size_t end,
                                 std::string& out) {
  const bool dotted = peek(text, end) == '.';
  const std::size_t after = end + (dotted ? 1 : 0);
  const std::string_view word = text.substr(at, end - at);
  const bool is_saint = word == "St";
  if (!is_saint && word != "Dr") return 0;
  const std::string_view prior = word_before(text, at);
  const bool is_place = prior == "Mount" || prior == "Port" || prior == "Fort" || prior == "Lake" ||
                        prior == "Mr" || prior == "Mrs" || prior == "Dr";
  // The first word of a sentence is capitalised whether it is a name or not.
  const bool starts = prior.data() == text.data() && name_follows(text, after);
  const bool named_before =
      name_precedes(text, at) && !is_place && !starts && !opens_sentence(prior);
  const bool ends_here = peek(text, after) != ' ' || !name_follows(text, after);
  if (is_saint && !named_before && name_follows(text, after)) {
    out += "Saint";
    return after - at;
  }
  const bool is_way = named_before && (is_saint || ends_here);
  if (!is_way || (!dotted && !ends_here)) return 0;
  out += is_saint ? "Street" : "Drive";
  return dotted ? take_stop(text, end, out) - at : after - at;
}

struct Phrase {
  std::string_view written;
  std::string_view spoken;
};
constexpr std::array<Phrase, 8> kPhrases{{{"e.g.", "for example"},
                                          {"i.e.", "that is"},
                                          {"et al.", "et al"},
                                          {"w/o", "without"},
                                          {"w/", "with"},
                                          {"a.k.a.", "also known as"},
                                          {"N.B.", "note well"},
                                          {"and/or", "and or"}}};

std::size_t read_phrase(std::string_view text, std::size_t at, std::string& out) {
  for (const Phrase& phrase : kPhrases) {
    if (text[at] != phrase.written.front() || !has_at(text, at, phrase.written)) continue;
    const std::size_t end = at + phrase.written.size();
    if (is_letter(phrase.written.back()) && is_word_or_digit(text, end)) continue;
    out += phrase.spoken;
    if (phrase.written == "et al.") return take_stop(text, end - 1, out) - at;
    close_gap(text, end, out);
    return end - at;
  }
  return 0;
}

}  // namespace

std::size_t take_stop(std::string_view text, std::size_t stop, std::string& out) {
  std::size_t after = stop + 1;
  while (peek(text, after) == '"' || peek(text, after) == '\'' || peek(text, after) == ')') ++after;
  const std::size_t next = spaces_end(text, after);
  if (next >= text.size() || (next > after && sentence_opens_after(text, after))) out += '.';
  return stop + 1;
}

std::size_t read_abbreviation(std::string_view text, std::size_t at, std::string& out) {
  if (is_word_or_digit(text, at == 0 ? text.size() : at - 1) || before(text, at) == '\'') return 0;
  const std::size_t end = word_end(text, at);
  const char next = peek(text, end);
  if (next == '.' || next == '/' || has_at(text, end, " al.")) {
    const std::size_t taken = read_phrase(text, at, out);
    if (taken != 0) return taken;
  }
  if (end - at > kLongest || (next != '.' && next != ' ' && next != ',' && next != '\0')) return 0;
  const std::size_t street = read_saint_or_street(text, at, end, out);
  if (street != 0) return street;
  const Abbreviation* entry = find(text.substr(at, end - at));
  if (entry == nullptr || (next != '.' && !entry->stop_optional)) return 0;
  if (next == '.' && is_word_or_digit(text, end + 1) && entry->when != When::kBeforeNumber)
    return 0;
  if (!applies(*entry, text, at, next == '.' ? end + 1 : end)) return 0;
  append_in_case(out, entry->spoken, text[at]);
  if (next != '.') return end - at;
  if (is_proper(*entry) && peek(text, end + 1) == '-') {
    out += " to ";
    return end + 2 - at;
  }
  const std::size_t taken = take_stop(text, end, out) - at;
  close_gap(text, end + 1, out);
  return taken;
}

}  // namespace stoker::text::english
