// The form of the built-in grammars: named lists of phrases that refer to each other.
#pragma once

#include <span>
#include <string_view>

namespace stoker::data::voice {

// In a phrase, {name} stands for one phrase of the list so called, {#name} for a number of that
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
