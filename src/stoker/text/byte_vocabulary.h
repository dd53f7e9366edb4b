// The vocabulary that has every text of every language: its UTF-8 bytes.
#pragma once

#include <memory>

#include "stoker/text/vocabulary.h"

namespace stoker::text {

// Id of byte b is b + 5; nothing is ever unknown.
std::shared_ptr<const Vocabulary> make_byte_vocabulary();

}  // namespace stoker::text
