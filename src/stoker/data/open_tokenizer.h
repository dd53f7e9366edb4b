// One text, read by itself as a data set's texts are: for looking at it, and for calls that bring
// their own.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/config/settings.h"
#include "stoker/text/tokenizer.h"

namespace stoker::data {

// With the phones of text.phonemes_file where the vocabulary is made of them. Throws ConfigError,
// StorageError.
text::Tokenizer open_tokenizer(const config::TextSettings& settings, Io& io);

// The ids, and in `scratch` the words. Throws E-TEXT-ENCODING for other bytes than UTF-8, and what
// tokenize_error() says of a text that cannot be used.
std::vector<std::int32_t> tokenize_text(const text::Tokenizer& tokenizer, std::string_view text,
                                        text::TokenizeScratch& scratch);

// Throws E-TEXT-ENCODING for other bytes than UTF-8.
void require_utf8(std::string_view text);

}  // namespace stoker::data
