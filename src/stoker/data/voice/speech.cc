#include "stoker/data/voice/speech.h"

#include <array>
#include <optional>
#include <utility>

#include "stoker/base/invariant.h"
#include "stoker/data/voice/lexicon.h"
#include "stoker/data/voice/spelling.h"

namespace stoker::data::voice {
namespace {

struct Mark {
  std::string_view sign;
  Boundary boundary;
};
constexpr std::array kMarks{Mark{",", Boundary::kComma},     Mark{";", Boundary::kComma},
                            Mark{":", Boundary::kComma},     Mark{"،", Boundary::kComma},
                            Mark{"؛", Boundary::kComma},     Mark{".", Boundary::kStatement},
                            Mark{"!", Boundary::kStatement}, Mark{"?", Boundary::kQuestion},
                            Mark{"؟", Boundary::kQuestion},  Mark{"\"", Boundary::kNone},
                            Mark{"(", Boundary::kNone},      Mark{")", Boundary::kNone}};

std::optional<Mark> mark_at(std::string_view text) {
  for (const Mark& mark : kMarks) {
    if (text.starts_with(mark.sign)) return mark;
  }
  return std::nullopt;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// "carried" is listed, "opened" is open + ed, "boxes" box + es, "making" make + ing.
std::string inflected(std::string_view word) {
  struct Ending {
    std::string_view letters, suffix, put_back;
  };
  constexpr std::array kEndings{Ending{"'s", "s", ""},     Ending{"ies", "s", "y"},
                                Ending{"es", "s", ""},     Ending{"s", "s", ""},
                                Ending{"ied", "ed", "y"},  Ending{"ed", "ed", ""},
                                Ending{"d", "ed", ""},     Ending{"ing", "ing", ""},
                                Ending{"ing", "ing", "e"}, Ending{"ly", "ly", ""}};
  for (const Ending& ending : kEndings) {
    if (!word.ends_with(ending.letters) || word.size() < ending.letters.size() + 2) continue;
    std::string stem(word.substr(0, word.size() - ending.letters.size()));
    stem += ending.put_back;
    std::string_view phones = find_in_lexicon(Language::kEnglish, stem);
    const bool doubled = stem.size() > 2 && stem.back() == stem[stem.size() - 2];
    if (phones.empty() && doubled) {
      phones = find_in_lexicon(Language::kEnglish, stem.substr(0, stem.size() - 1));
    }
    if (!phones.empty()) return inflect_english(phones, ending.suffix);
  }
  return {};
}

std::string english_phones(std::string_view word) {
  const std::string_view listed = find_in_lexicon(Language::kEnglish, word);
  if (!listed.empty()) return std::string(listed);
  std::string phones = inflected(word);
  return phones.empty() ? spell_out_english(word) : phones;
}

std::string persian_phones(std::string_view word) {
  const bool has_ezafe = word.ends_with(kKasra);
  if (has_ezafe) word.remove_suffix(kKasra.size());
  const std::string_view listed = find_in_lexicon(Language::kPersian, word);
  std::string phones = listed.empty() ? spell_out_persian(word) : std::string(listed);
  if (!has_ezafe) return phones;
  const bool after_vowel = !phones.empty() && phones.back() >= '0' && phones.back() <= '2';
  return phones + (after_vowel ? " y e0" : " e0");
}

Stress stress_of(std::string_view label) {
  if (label.ends_with('1')) return Stress::kPrimary;
  return label.ends_with('2') ? Stress::kSecondary : Stress::kNone;
}

// Unstressed AH is schwa; one table row serves both names.
const Phone* realise(Language language, std::string_view label) {
  if (language == Language::kEnglish && label == "AH0") return find_phone(language, "AX");
  return find_phone(language, label);
}

SpokenWord make_word(Language language, std::string text) {
  SpokenWord word;
  const std::string key = lower_case(text);
  std::string phones = language == Language::kEnglish ? english_phones(key) : persian_phones(key);
  word.is_function_word = is_function_word(language, key);
  word.text = std::move(text);
  for (std::size_t at = 0; at < phones.size();) {
    const std::size_t blank = phones.find(' ', at);
    std::string label = phones.substr(at, blank == std::string::npos ? blank : blank - at);
    const Phone* phone = realise(language, label);
    check_invariant(phone != nullptr, "a lexicon or rule names a phone that does not exist");
    const Stress stress = stress_of(label);
    word.phones.push_back({phone, std::move(label), stress});
    at = blank == std::string::npos ? phones.size() : blank + 1;
  }
  return word;
}

// American habits: l is dark after a vowel, t and d between vowels become one tap of the tongue.
void apply_american_habits(SpokenText& text) {
  const Phone* dark_l = find_phone(Language::kEnglish, "LD");
  const Phone* tap = find_phone(Language::kEnglish, "DX");
  for (SpokenWord& word : text) {
    for (std::size_t i = 1; i < word.phones.size(); ++i) {
      const bool after_vowel = word.phones[i - 1].phone->is_vowel();
      const bool is_last = i + 1 == word.phones.size();
      const SpokenPhone* next = is_last ? nullptr : &word.phones[i + 1];
      const bool before_vowel = next != nullptr && next->phone->is_vowel();
      const std::string& label = word.phones[i].label;
      if (label == "L" && after_vowel && !before_vowel) word.phones[i].phone = dark_l;
      const bool taps = (label == "T" || label == "D") && after_vowel && before_vowel &&
                        next->stress == Stress::kNone;
      if (taps) word.phones[i].phone = tap;
    }
  }
}

void end_phrase(SpokenText& text, Boundary boundary) {
  if (!text.empty() && boundary != Boundary::kNone) text.back().boundary = boundary;
}

}  // namespace

SpokenText pronounce(Language language, std::string_view text) {
  SpokenText out;
  std::string word;
  const auto flush = [&] {
    if (!word.empty()) out.push_back(make_word(language, std::exchange(word, {})));
    if (!out.empty() && out.back().phones.empty()) out.pop_back();
  };
  while (!text.empty()) {
    const auto mark = mark_at(text);
    const bool is_gap = text.front() == ' ' || text.front() == '-';
    if (mark || is_gap) flush();
    if (mark) end_phrase(out, mark->boundary);
    if (!mark && !is_gap) word += text.front();
    text.remove_prefix(mark ? mark->sign.size() : 1);
  }
  flush();
  if (!out.empty() && out.back().boundary == Boundary::kNone) {
    out.back().boundary = Boundary::kStatement;
  }
  if (language == Language::kEnglish) apply_american_habits(out);
  return out;
}

}  // namespace stoker::data::voice
