// Where the cache of a data set is: beside the data, at a fallback, or where the user says; each
// list of utterances has a cache of its own.
#pragma once

#include <string>

#include "stoker/base/digest/digest.h"
#include "stoker/base/io/io.h"
#include "stoker/config/settings.h"

namespace stoker::cache {

enum class LocationKind { kBesideData, kFallback, kExplicit };

struct CacheLocation {
  std::string folder;
  LocationKind kind = LocationKind::kBesideData;
};

// `<data>/.stoker/<digest>`, with `-<hash>` behind it for a list of utterances that the data folder
// does not give by itself (list_key); where that is not there and cannot be written,
// `$STOKER_CACHE`, else `$XDG_CACHE_HOME/stoker` or `~/.cache/stoker`, each with a folder named
// after the data set and its real path; `cache.dir` overrules all. Throws E-CACHE-PLACE for the
// data folder itself, for a folder inside the one that holds its sound, and for "/". Nothing is
// created.
CacheLocation find_cache_location(const config::Settings& settings, const Digest128& features,
                                  Io& io);

// The folder that holds every cache of the data set beside it: "<data>/.stoker".
std::string caches_of_data(const config::Settings& settings, Io& io);

// Whether two folders in there hold caches of the same features, of whatever list.
bool has_same_features(const std::string& folder, const std::string& other);

// Warns when others may write there; empty when all is well.
std::string mode_warning(const File& folder);

// Empty for the list that a data folder gives by itself. Otherwise what tells it from its
// neighbours in the same folder: the metadata file or manifest, the part of a split, the share of a
// subset with its seed, and the members of a mixture: "train.jsonl", "split=train". Names, not
// paths: a data set that is moved keeps its key. Limits on single rows are not part of it.
std::string list_key(const config::Settings& settings, Io& io);

}  // namespace stoker::cache
