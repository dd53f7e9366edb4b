// Sentences from the built-in grammars, as written and as read aloud.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stoker/base/philox.h"
#include "stoker/data/voice/phone.h"

namespace stoker::data::voice {

struct Sentence {
  std::string raw;         // "Dr. Smith paid $5."
  std::string normalised;  // "Doctor Smith paid five dollars."
  std::string spoken;      // the normalised text with Persian ezafe marked
};

// How much is to be said: one short remark, one plain sentence, or a period of several clauses.
enum class SentenceSize { kShort, kPlain, kLong };

// A function of the draws alone.
Sentence draw_sentence(Language language, SentenceSize size, KeyedDraws& draws);

// The form of the built-in grammars: named lists of phrases that refer to each other.
// In a phrase, {name} means one phrase of the list so called, {#name} for a number of that
// kind, and <written=read> for something whose written and read forms differ.
struct PhraseList {
  std::string_view name;
  std::span<const std::string_view> phrases;
};

struct Grammar {
  std::span<const PhraseList> lists;
};

const Grammar& english_grammar();
const Grammar& persian_grammar();

}  // namespace stoker::data::voice
