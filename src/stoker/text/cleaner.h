// Finds what a configuration names as its cleaner: our normalisers or the cleaners of myxtts.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/text/normalizer.h"

namespace stoker::text {

// "auto" (the normaliser of the language), one of the normalisers by its name ("english",
// "persian", "unicode"), "none", or a cleaner of myxtts under its own name.
// E-TEXT-VOCABULARY with the nearest name for anything else.
std::shared_ptr<const Normalizer> cleaner_for(std::string_view name, std::string_view language);

std::vector<std::string> cleaner_names();

// The text cleaners of myxtts, mistakes included, so that its token files can be remade.
namespace myxtts {

// kBasic: lower case, single spaces. kMultilingual: lower case, abbreviations, combining marks
// dropped. kEnglish: also 0 to 20 in words and everything transliterated to ASCII.
enum class CleanerKind { kBasic, kEnglish, kMultilingual };

std::shared_ptr<const Normalizer> make_cleaner(CleanerKind kind);

}  // namespace myxtts

}  // namespace stoker::text
