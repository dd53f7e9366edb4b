// The original trainer's symbol list, its two doubled symbols included.
#pragma once

#include <memory>

#include "stoker/text/vocabulary.h"

namespace stoker::text::myxtts {

// 94 entries; "_" and "~" stand twice and the later place counts, so the blank is 88 and the end
// 93. Every symbol but the space is followed by a blank. Batches were padded with 0.
std::shared_ptr<const Vocabulary> make_vocabulary();

}  // namespace stoker::text::myxtts
