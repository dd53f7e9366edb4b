// The original trainer's text cleaners, mistakes included, so that its token files can be remade.
#pragma once

#include <memory>

#include "stoker/text/normalizer.h"

namespace stoker::text::myxtts {

// kBasic: lower case, single spaces. kMultilingual: lower case, abbreviations, combining marks
// dropped. kEnglish: also 0 to 20 in words and everything transliterated to ASCII.
enum class CleanerKind { kBasic, kEnglish, kMultilingual };

std::shared_ptr<const Normalizer> make_cleaner(CleanerKind kind);

}  // namespace stoker::text::myxtts
