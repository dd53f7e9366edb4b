#include "stoker/data/voice/lexicon.h"

#include <span>
#include <unordered_map>

#include "stoker/data/voice/english/function_words.h"
#include "stoker/data/voice/english/number_words.h"
#include "stoker/data/voice/english/people_words.h"
#include "stoker/data/voice/english/quality_words.h"
#include "stoker/data/voice/english/thing_words.h"
#include "stoker/data/voice/english/verb_words.h"
#include "stoker/data/voice/persian/function_words.h"
#include "stoker/data/voice/persian/number_words.h"
#include "stoker/data/voice/persian/quality_words.h"
#include "stoker/data/voice/persian/thing_words.h"

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
  add(lexicon, kEnglishFunctionWords, true);
  add(lexicon, kEnglishNumberWords, false);
  add(lexicon, kEnglishPeopleWords, false);
  add(lexicon, kEnglishThingWords, false);
  add(lexicon, kEnglishVerbWords, false);
  add(lexicon, kEnglishQualityWords, false);
  return lexicon;
}

Lexicon persian_lexicon() {
  Lexicon lexicon;
  add(lexicon, kPersianFunctionWords, true);
  add(lexicon, kPersianNumberWords, false);
  add(lexicon, kPersianThingWords, false);
  add(lexicon, kPersianQualityWords, false);
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
