// Says why an entry of a cache would be rebuilt: which setting, which source, old and new.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/cache/build/build.h"
#include "stoker/cache/build/inspect.h"
#include "stoker/cache/format/settings_match.h"

namespace stoker::cache {

struct EntryReason {
  std::string kind;    // "mel", "array f0"
  std::string state;   // "fresh", "stale", "corrupt", "missing", "unread", "left out"
  std::string reason;  // one sentence; empty when fresh
  std::string have;    // digest or size in the cache, where that is the difference
  std::string want;
  std::vector<SettingDifference> settings;  // the differing ones of its group
  std::string shard;                        // file that holds or would hold it
};

// "mel", "array f0".
std::string kind_text(RecordKind kind, std::string_view array);

// One entry a kind that the target makes. Throws E-CACHE-MISSING for an id that no maker knows.
std::vector<EntryReason> explain_entry(const File& folder, const BuildTarget& target,
                                       std::string_view id);
// The same for a cache that was looked at already, or is not there (inspect_nothing); `place` names
// it in errors.
std::vector<EntryReason> explain_entry(const Inspection& found, const std::string& place,
                                       const BuildTarget& target, std::string_view id);

}  // namespace stoker::cache
