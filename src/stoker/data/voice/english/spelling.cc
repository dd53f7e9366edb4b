#include "stoker/data/voice/spelling.h"

#include <array>
#include <vector>

namespace stoker::data::voice {
namespace {

constexpr std::string_view kVowelLetters = "aeiouy";
constexpr std::array<std::string_view, 15> kVowelPhones{
    "IY", "IH", "EH", "AE", "AA", "AO", "UH", "UW", "AH", "ER", "EY", "AY", "OY", "AW", "OW"};
constexpr std::array<std::string_view, 8> kUnstressedPrefixes{"be",  "re", "de", "con",
                                                              "com", "ex", "in", "un"};

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_vowel_letter(char c) { return kVowelLetters.find(c) != std::string_view::npos; }
bool is_consonant(char c) { return is_letter(c) && !is_vowel_letter(c); }

// Walks from `at` in steps of `step` over the letters; reading past an end gives '_'.
struct Walker {
  std::string_view word;
  std::ptrdiff_t at;
  std::ptrdiff_t step;

  char letter() const {
    if (at < 0 || at >= static_cast<std::ptrdiff_t>(word.size())) return '_';
    return word[static_cast<std::size_t>(at)];
  }
  void advance() { at += step; }

  bool accept(char symbol) {
    const char here = letter();
    switch (symbol) {
      case '#':
        if (!is_vowel_letter(here)) return false;
        while (is_vowel_letter(letter())) advance();
        return true;
      case ':':
        while (is_consonant(letter())) advance();
        return true;
      case '^':
        if (!is_consonant(here)) return false;
        break;
      case '+':
        if (here != 'e' && here != 'i' && here != 'y') return false;
        break;
      default:
        if (here != symbol) return false;
    }
    advance();
    return true;
  }
};

bool fits(const SpellingRule& rule, std::string_view word, std::size_t at) {
  if (word.compare(at, rule.letters.size(), rule.letters) != 0) return false;
  Walker back{word, static_cast<std::ptrdiff_t>(at) - 1, -1};
  for (auto symbol = rule.before.rbegin(); symbol != rule.before.rend(); ++symbol) {
    if (!back.accept(*symbol)) return false;
  }
  Walker ahead{word, static_cast<std::ptrdiff_t>(at + rule.letters.size()), +1};
  for (const char symbol : rule.after) {
    if (!ahead.accept(symbol)) return false;
  }
  return true;
}

void append_phones(std::string_view phones, std::vector<std::string>& out) {
  while (!phones.empty()) {
    const std::size_t blank = phones.find(' ');
    out.emplace_back(phones.substr(0, blank));
    if (blank == std::string_view::npos) return;
    phones.remove_prefix(blank + 1);
  }
}

bool is_vowel_phone(std::string_view phone) {
  for (const std::string_view vowel : kVowelPhones) {
    if (phone == vowel) return true;
  }
  return false;
}

std::size_t stressed_syllable(std::string_view word, std::size_t num_syllables) {
  if (num_syllables <= 1) return 0;
  for (const std::string_view ending : {"tion", "sion", "ic", "cial", "tial", "cian"}) {
    if (word.ends_with(ending)) return num_syllables - 2;
  }
  if (num_syllables > 2) return num_syllables - 3;
  for (const std::string_view prefix : kUnstressedPrefixes) {
    if (word.starts_with(prefix) && word.size() > prefix.size() + 3) return 1;
  }
  return 0;
}

std::string join_with_stress(const std::vector<std::string>& phones, std::string_view word) {
  std::size_t num_syllables = 0;
  for (const auto& phone : phones) num_syllables += is_vowel_phone(phone) ? 1U : 0U;
  const std::size_t stressed = stressed_syllable(word, num_syllables);
  std::string out;
  std::size_t syllable = 0;
  for (const auto& phone : phones) {
    if (!out.empty()) out += ' ';
    out += phone;
    if (is_vowel_phone(phone)) out += syllable++ == stressed ? '1' : '0';
  }
  return out;
}

bool ends_with_any(std::string_view phones, std::initializer_list<std::string_view> endings) {
  const std::size_t blank = phones.rfind(' ');
  const auto last = blank == std::string_view::npos ? phones : phones.substr(blank + 1);
  for (const std::string_view ending : endings) {
    if (last == ending) return true;
  }
  return false;
}

}  // namespace

std::string spell_out_english(std::string_view word) {
  std::vector<std::string> phones;
  std::size_t at = 0;
  while (at < word.size()) {
    std::size_t used = 1;
    for (const SpellingRule& rule : english_spelling_rules()) {
      if (!fits(rule, word, at)) continue;
      append_phones(rule.phones, phones);
      used = rule.letters.size();
      break;
    }
    at += used;
  }
  return join_with_stress(phones, word);
}

std::string inflect_english(std::string_view stem_phones, std::string_view suffix) {
  std::string out(stem_phones);
  if (suffix == "ing") return out + " IH0 NG";
  if (suffix == "ly") return out + " L IY0";
  const bool voiceless = ends_with_any(stem_phones, {"P", "T", "K", "F", "TH", "S", "SH", "CH"});
  if (suffix == "ed") {
    if (ends_with_any(stem_phones, {"T", "D"})) return out + " AH0 D";
    return out + (voiceless ? " T" : " D");
  }
  if (ends_with_any(stem_phones, {"S", "Z", "SH", "ZH", "CH", "JH"})) return out + " IH0 Z";
  return out + (voiceless ? " S" : " Z");
}

}  // namespace stoker::data::voice
