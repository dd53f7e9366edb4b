// Finds caches and files that no settings in use ask for, and removes them when told to.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "stoker/base/io/io.h"

namespace stoker::cache {

struct UnusedItem {
  std::string path;
  std::string why;  // "made with other settings", "left by a builder that was killed" …
  std::uint64_t size_bytes = 0;
  bool is_cache = false;  // a whole folder
};

// Looks through `caches` ("<data>/.stoker"): caches whose folder is not in `used`, and litter in
// those that are. A cache with the features of a used one belongs to another list of utterances of
// the same data folder: it is listed only when that list's file is gone. A folder that holds no
// manifest and nothing of ours is never listed.
std::vector<UnusedItem> find_unused(Io& io, const std::string& caches,
                                    const std::set<std::string>& used);

// Removes one; a cache that a builder holds is refused with E-CACHE-LOCKED. Only files that stoker
// writes are removed: a folder with others in it stays, with them.
void remove_unused(Io& io, const UnusedItem& item);

}  // namespace stoker::cache
