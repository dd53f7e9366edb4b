// The words for a source that is no longer what the index says.
#pragma once

#include <string>

#include "stoker/base/error.h"
#include "stoker/data/utterance.h"

namespace stoker::feed {

Error changed_since(const data::Utterance& indexed, std::string promised, std::string found);

// A source that is gone, closed to this user or no file any more is the data's fault; storage that
// fails is not.
Error in_source(Error error, const std::string& file);

}  // namespace stoker::feed
