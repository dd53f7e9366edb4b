// How words sound where spelling does not say it: the lexicons of both languages.
#pragma once

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

}  // namespace stoker::data::voice
