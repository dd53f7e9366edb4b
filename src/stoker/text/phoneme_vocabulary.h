// The vocabulary of pronunciations: whole phones separated by spaces.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stoker/text/vocabulary.h"

namespace stoker::text {

// `phones` without repetition, in the order of their ids, which start at 5.
std::shared_ptr<const Vocabulary> make_phoneme_vocabulary(std::vector<std::string> phones);

}  // namespace stoker::text
