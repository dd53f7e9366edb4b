// How words sound where spelling does not say it: the lexicons of both languages.
#pragma once

#include <span>
#include <string_view>

#include "stoker/data/voice/phone.h"

namespace stoker::data::voice {

struct LexiconEntry {
  std::string_view word;    // lower case, as written
  std::string_view phones;  // separated by blanks; a digit after a vowel is its stress
};

// The phones of `word`, or an empty view where the lexicon does not know it.
std::string_view find_in_lexicon(Language language, std::string_view word);

// "the", "of", "را": words that carry grammar, not news; they are short and unaccented.
bool is_function_word(Language language, std::string_view word);

// The tables that the lexicons are made of, by kind of word, each in a file of its language's
// folder.
std::span<const LexiconEntry> english_function_words();
std::span<const LexiconEntry> english_number_words();
std::span<const LexiconEntry> english_people_words();
std::span<const LexiconEntry> english_thing_words();
std::span<const LexiconEntry> english_verb_words();
std::span<const LexiconEntry> english_quality_words();
std::span<const LexiconEntry> persian_function_words();
std::span<const LexiconEntry> persian_number_words();
std::span<const LexiconEntry> persian_thing_words();
std::span<const LexiconEntry> persian_quality_words();

}  // namespace stoker::data::voice
