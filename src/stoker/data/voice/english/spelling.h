// English letter-to-sound rules: how words sound that no lexicon lists.
#pragma once

#include <string>
#include <string_view>

namespace stoker::data::voice {

// ARPAbet phones with stress digits for `word` (lower case a-z and apostrophes; other bytes are
// silent). Every word gets an answer; it is the likely one, not always the right one.
std::string spell_out_english(std::string_view word);

// The phones of an inflected form built on the phones of its stem: walk + ed, box + es, run + ing.
// `suffix` is "s", "ed", "ing" or "ly".
std::string inflect_english(std::string_view stem_phones, std::string_view suffix);

}  // namespace stoker::data::voice
