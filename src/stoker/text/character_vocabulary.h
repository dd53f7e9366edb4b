// The native vocabulary: the letters and marks of one language, case folded.
#pragma once

#include <memory>
#include <string_view>

#include "stoker/text/vocabulary.h"

namespace stoker::text {

// Ids 0–4 are <pad> <unk> <blank> <bos> <eos>, then the space, the marks and the letters of the
// language in a fixed order. English and Persian have lists of their own; other languages take
// their letters from ICU.
std::shared_ptr<const Vocabulary> make_character_vocabulary(std::string_view language);

}  // namespace stoker::text
