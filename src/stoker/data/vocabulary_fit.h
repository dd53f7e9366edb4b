// Finds out before anything is built whether texts fit their vocabulary: Persian in the letters of
// English would otherwise become a row of unknown tokens.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/data/index.h"
#include "stoker/text/tokenizer.h"

namespace stoker::data {

// By Utterance::language.
using LanguageTokenizers = std::vector<std::unique_ptr<text::Tokenizer>>;

// One for each language; options.language is not used. ConfigError as Tokenizer's.
LanguageTokenizers make_tokenizers(text::TokenizerOptions options,
                                   std::span<const std::string> languages);

// E-TEXT-MISFIT when more than `max_fraction` of the characters of the texts are outside the
// vocabulary, with the setting that is likely to help; nothing otherwise. Of more than 256
// utterances 256 are looked at, evenly spaced.
std::optional<Error> vocabulary_misfit(const Index& index, const LanguageTokenizers& tokenizers,
                                       double max_fraction);

}  // namespace stoker::data
