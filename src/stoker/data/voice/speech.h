// What is to be said: words as sounds with stress, and the pauses between them; made from text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/data/voice/phone.h"

namespace stoker::data::voice {

enum class Stress { kNone, kPrimary, kSecondary };

// What follows a word: nothing, a comma's short pause, or the end of a sentence.
enum class Boundary { kNone, kComma, kStatement, kQuestion };

struct SpokenPhone {
  const Phone* phone = nullptr;  // the sound as realised
  std::string label;             // the sound as the lexicon names it, with its stress digit
  Stress stress = Stress::kNone;
};

struct SpokenWord {
  std::string text;
  std::vector<SpokenPhone> phones;
  Boundary boundary = Boundary::kNone;
  bool is_function_word = false;  // "the", "of": unaccented and short
};

using SpokenText = std::vector<SpokenWord>;

// Lexicon first, inflection and spelling rules after it, then the small changes of running speech.
// `text` is normalised (no digits, no abbreviations); punctuation becomes pauses, hyphens part
// words. In Persian a kasra at the end of a word marks ezafe.
SpokenText pronounce(Language language, std::string_view text);

}  // namespace stoker::data::voice
