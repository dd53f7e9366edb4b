// The caches of a data set: with which settings each was made, how large and how old it is, and
// whether the settings at hand use it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/cache/format/settings_match.h"
#include "stoker/config/settings.h"

namespace stoker::cache {

enum class CacheUse {
  kUsed,           // a feed with these settings reads it
  kOtherList,      // made with them, for another list of utterances of the same folder
  kOtherSettings,  // made with others
};
std::string_view use_name(CacheUse use);  // "used", "other list", "other settings"

struct ListedCache {
  std::string folder;
  CacheUse use = CacheUse::kOtherSettings;
  std::string list;  // as list_key() names it; empty: every utterance of the data set
  // From the settings at hand, by the names that a user sets where the cache has kept them.
  std::vector<SettingDifference> differences;
  std::uint64_t num_records = 0;
  std::uint64_t size_bytes = 0;      // of all files in the folder
  std::int64_t changed_unix_ns = 0;  // when its manifest was written
};

// Where a feed with these settings reads and writes, with and without cache.dir.
std::set<std::string> used_folders(Io& io, const config::Settings& settings);

// Those beside the data, those at the fallback, and cache.dir. Folders without a manifest that can
// be read are left out.
std::vector<ListedCache> list_caches(Io& io, const config::Settings& settings);

}  // namespace stoker::cache
