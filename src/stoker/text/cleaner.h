// Finds what a configuration names as its cleaner: our normalisers or the original's cleaners.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/text/normalizer.h"

namespace stoker::text {

// "auto" (the normaliser of the language), one of the normalisers by its name ("english",
// "persian", "unicode"), "none", or a cleaner of the original under its old name.
// E-TEXT-VOCABULARY with the nearest name for anything else.
std::shared_ptr<const Normalizer> cleaner_for(std::string_view name, std::string_view language);

std::vector<std::string> cleaner_names();

}  // namespace stoker::text
