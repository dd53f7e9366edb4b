// Sentences from the built-in grammars, as written and as read aloud.
#pragma once

#include <string>

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

}  // namespace stoker::data::voice
