#include "stoker/feed/source/source_faults.h"

#include <utility>

#include "stoker/base/errors.h"
#include "stoker/feed/errors.h"

namespace stoker::feed {

Error changed_since(const data::Utterance& indexed, std::string promised, std::string found) {
  return {.code = &kFeedFileChanged,
          .place = {.file = std::string(indexed.file)},
          .promised = std::move(promised),
          .found = std::move(found)};
}

Error in_source(Error error, const std::string& file) {
  if (error.code != &kIoMissing && error.code != &kIoKind && error.code != &kIoAccess) return error;
  return {.code = &kFeedFileChanged,
          .place = {.file = file},
          .promised = "a readable file, as when indexed",
          .found = "none (" + error.found + ")"};
}

}  // namespace stoker::feed
