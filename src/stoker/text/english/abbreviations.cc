#include <algorithm>
#include <array>

#include "stoker/text/english/rules.h"

namespace stoker::text::english {
namespace {

enum class When {
  kAlways,        // with its full stop
  kBeforeName,    // a capitalised word follows
  kBeforeNumber,  // a digit follows
  kAfterName,     // a capitalised word comes before
  kInside,        // the sentence goes on: a small letter, a digit or a comma follows
};

struct Abbreviation {
  std::string_view written;  // lower case, without the full stop
  std::string_view spoken;
  When when = When::kAlways;
  bool stop_optional = false;  // also without its full stop: Dr Smith
};

// Sorted by `written`; capitals are carried over to the spoken form.
constexpr std::array kAbbreviations{Abbreviation{"abt", "about"},
                                    Abbreviation{"acct", "account"},
                                    Abbreviation{"adm", "admiral", When::kBeforeName},
                                    Abbreviation{"approx", "approximately"},
                                    Abbreviation{"apr", "April", When::kInside},
                                    Abbreviation{"apt", "apartment", When::kBeforeNumber},
                                    Abbreviation{"art", "article", When::kBeforeNumber},
                                    Abbreviation{"assn", "association"},
                                    Abbreviation{"assoc", "associate"},
                                    Abbreviation{"asst", "assistant"},
                                    Abbreviation{"attn", "attention"},
                                    Abbreviation{"aug", "August", When::kInside},
                                    Abbreviation{"ave", "avenue"},
                                    Abbreviation{"bldg", "building"},
                                    Abbreviation{"blvd", "boulevard"},
                                    Abbreviation{"brig", "brigadier", When::kBeforeName},
                                    Abbreviation{"bros", "brothers"},
                                    Abbreviation{"ca", "circa", When::kBeforeNumber},
                                    Abbreviation{"capt", "captain"},
                                    Abbreviation{"cf", "compare"},
                                    Abbreviation{"ch", "chapter", When::kBeforeNumber},
                                    Abbreviation{"cmdr", "commander"},
                                    Abbreviation{"co", "company"},
                                    Abbreviation{"col", "colonel", When::kBeforeName},
                                    Abbreviation{"corp", "corporation"},
                                    Abbreviation{"cpl", "corporal", When::kBeforeName},
                                    Abbreviation{"ct", "court", When::kAfterName},
                                    Abbreviation{"dec", "December", When::kInside},
                                    Abbreviation{"dept", "department"},
                                    Abbreviation{"dist", "district"},
                                    Abbreviation{"dr", "doctor", When::kBeforeName, true},
                                    Abbreviation{"drs", "doctors", When::kBeforeName},
                                    Abbreviation{"esq", "esquire"},
                                    Abbreviation{"est", "established", When::kInside},
                                    Abbreviation{"etc", "et cetera", When::kAlways, true},
                                    Abbreviation{"ext", "extension", When::kBeforeNumber},
                                    Abbreviation{"feb", "February", When::kInside},
                                    Abbreviation{"fig", "figure", When::kBeforeNumber},
                                    Abbreviation{"figs", "figures", When::kBeforeNumber},
                                    Abbreviation{"fri", "Friday", When::kInside},
                                    Abbreviation{"ft", "fort", When::kBeforeName},
                                    Abbreviation{"gen", "general", When::kBeforeName},
                                    Abbreviation{"gov", "governor", When::kBeforeName},
                                    Abbreviation{"govt", "government"},
                                    Abbreviation{"hon", "honorable", When::kBeforeName},
                                    Abbreviation{"hwy", "highway"},
                                    Abbreviation{"inc", "incorporated"},
                                    Abbreviation{"jan", "January", When::kInside},
                                    Abbreviation{"jr", "junior"},
                                    Abbreviation{"jul", "July", When::kInside},
                                    Abbreviation{"jun", "June", When::kInside},
                                    Abbreviation{"lt", "lieutenant"},
                                    Abbreviation{"ltd", "limited", When::kAlways, true},
                                    Abbreviation{"maj", "major", When::kBeforeName},
                                    Abbreviation{"mar", "March", When::kInside},
                                    Abbreviation{"max", "maximum", When::kInside},
                                    Abbreviation{"messrs", "messieurs"},
                                    Abbreviation{"mfg", "manufacturing"},
                                    Abbreviation{"mgr", "manager"},
                                    Abbreviation{"min", "minimum", When::kInside},
                                    Abbreviation{"misc", "miscellaneous"},
                                    Abbreviation{"mon", "Monday", When::kInside},
                                    Abbreviation{"mr", "mister", When::kAlways, true},
                                    Abbreviation{"mrs", "missus", When::kAlways, true},
                                    Abbreviation{"ms", "miz", When::kBeforeName, true},
                                    Abbreviation{"mt", "mount", When::kBeforeName, true},
                                    Abbreviation{"natl", "national"},
                                    Abbreviation{"no", "number", When::kBeforeNumber},
                                    Abbreviation{"nos", "numbers", When::kBeforeNumber},
                                    Abbreviation{"nov", "November", When::kInside},
                                    Abbreviation{"oct", "October", When::kInside},
                                    Abbreviation{"p", "page", When::kBeforeNumber},
                                    Abbreviation{"par", "paragraph", When::kBeforeNumber},
                                    Abbreviation{"pp", "pages", When::kBeforeNumber},
                                    Abbreviation{"pres", "president", When::kBeforeName},
                                    Abbreviation{"prof", "professor", When::kAlways},
                                    Abbreviation{"pt", "part", When::kBeforeNumber},
                                    Abbreviation{"pvt", "private", When::kBeforeName},
                                    Abbreviation{"rd", "road", When::kAfterName},
                                    Abbreviation{"rep", "representative", When::kBeforeName},
                                    Abbreviation{"rev", "reverend", When::kBeforeName},
                                    Abbreviation{"sat", "Saturday", When::kInside},
                                    Abbreviation{"sec", "section", When::kBeforeNumber},
                                    Abbreviation{"sen", "senator", When::kBeforeName},
                                    Abbreviation{"sep", "September", When::kInside},
                                    Abbreviation{"sept", "September", When::kInside},
                                    Abbreviation{"sgt", "sergeant", When::kAlways},
                                    Abbreviation{"sr", "senior"},
                                    Abbreviation{"sun", "Sunday", When::kInside},
                                    Abbreviation{"tel", "telephone"},
                                    Abbreviation{"thu", "Thursday", When::kInside},
                                    Abbreviation{"thurs", "Thursday", When::kInside},
                                    Abbreviation{"tue", "Tuesday", When::kInside},
                                    Abbreviation{"tues", "Tuesday", When::kInside},
                                    Abbreviation{"univ", "university"},
                                    Abbreviation{"viz", "namely"},
                                    Abbreviation{"vol", "volume", When::kBeforeNumber},
                                    Abbreviation{"vols", "volumes", When::kBeforeNumber},
                                    Abbreviation{"vs", "versus", When::kAlways, true},
                                    Abbreviation{"wed", "Wednesday", When::kInside}};
static_assert(std::is_sorted(kAbbreviations.begin(), kAbbreviations.end(),
                             [](const Abbreviation& a, const Abbreviation& b) {
                               return a.written < b.written;
                             }));

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
