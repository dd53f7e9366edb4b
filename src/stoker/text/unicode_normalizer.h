// The default for languages without rules of their own: Unicode NFC and ICU's number words.
#pragma once

#include <memory>
#include <string>

#include "stoker/text/normalizer.h"

namespace stoker::text {

// `language` is a BCP 47 tag. Digits stay as they are where ICU has no words for that language.
std::shared_ptr<const Normalizer> make_unicode_normalizer(const std::string& language);

}  // namespace stoker::text
