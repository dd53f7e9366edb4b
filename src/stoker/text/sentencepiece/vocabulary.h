// The vocabulary of a SentencePiece model file, read without the SentencePiece library.
#pragma once

#include <memory>
#include <string>

#include "stoker/text/vocabulary.h"

namespace stoker::text::sentencepiece {

// Ids are the model's plus 5, behind our own special ids: padding is 0 whatever the model says.
// Throws E-TEXT-MODEL, StorageError.
std::shared_ptr<const Vocabulary> load_vocabulary(const std::string& file);

// Digest of the file's bytes: part of a cache's validity.
std::string model_digest(const std::string& file);

}  // namespace stoker::text::sentencepiece
