// Names the list of utterances that settings select, so that each list has a cache of its own.
#pragma once

#include <string>

#include "stoker/base/io/io.h"
#include "stoker/config/settings.h"

namespace stoker::cache {

// Empty for the list that a data folder gives by itself. Otherwise what tells it from its
// neighbours in the same folder: the metadata file or manifest, the part of a split, the share of a
// subset with its seed, and the members of a mixture: "train.jsonl", "split=train". Names, not
// paths: a data set that is moved keeps its key. Limits on single rows are not part of it.
std::string list_key(const config::Settings& settings, Io& io);

}  // namespace stoker::cache
