#include "stoker/data/voice/lexicon.h"

#include <unordered_map>

namespace stoker::data::voice {
namespace {

struct KnownWord {
  std::string_view phones;
  bool is_function_word;
};
using Lexicon = std::unordered_map<std::string_view, KnownWord>;

void add(Lexicon& lexicon, std::span<const LexiconEntry> entries, bool are_function_words) {
  for (const LexiconEntry& entry : entries) {
    lexicon.emplace(entry.word, KnownWord{entry.phones, are_function_words});
  }
}

Lexicon english_lexicon() {
  Lexicon lexicon;
  add(lexicon, english_function_words(), true);
  add(lexicon, english_number_words(), false);
  add(lexicon, english_people_words(), false);
  add(lexicon, english_thing_words(), false);
  add(lexicon, english_verb_words(), false);
  add(lexicon, english_quality_words(), false);
  return lexicon;
}

Lexicon persian_lexicon() {
  Lexicon lexicon;
  add(lexicon, persian_function_words(), true);
  add(lexicon, persian_number_words(), false);
  add(lexicon, persian_thing_words(), false);
  add(lexicon, persian_quality_words(), false);
  return lexicon;
}

const KnownWord* find(Language language, std::string_view word) {
  static const Lexicon english = english_lexicon();
  static const Lexicon persian = persian_lexicon();
  const Lexicon& lexicon = language == Language::kPersian ? persian : english;
  const auto found = lexicon.find(word);
  return found == lexicon.end() ? nullptr : &found->second;
}

}  // namespace

std::string_view find_in_lexicon(Language language, std::string_view word) {
  const KnownWord* known = find(language, word);
  return known == nullptr ? std::string_view{} : known->phones;
}

bool is_function_word(Language language, std::string_view word) {
  const KnownWord* known = find(language, word);
  return known != nullptr && known->is_function_word;
}

}  // namespace stoker::data::voice
