// From written words to sounds: lexicon first, inflection and spelling rules after it, then the
// small changes of running speech.
#pragma once

#include <string_view>

#include "stoker/data/voice/speech.h"

namespace stoker::data::voice {

// `text` is normalised (no digits, no abbreviations); punctuation becomes pauses, hyphens part
// words. In Persian a kasra at the end of a word marks ezafe.
SpokenText pronounce(Language language, std::string_view text);

}  // namespace stoker::data::voice
