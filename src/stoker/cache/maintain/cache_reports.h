// What a cache is and why it would change, for programs: the command line and Python give the same
// keys.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/json.h"
#include "stoker/cache/build/precompute.h"
#include "stoker/cache/format/manifest.h"
#include "stoker/cache/maintain/explain.h"
#include "stoker/config/settings.h"

namespace stoker::cache {

struct KindSize {
  std::uint64_t records = 0;
  std::uint64_t shards = 0;
  std::uint64_t size_bytes = 0;
};
// By "mel", "array f0".
std::map<std::string, KindSize> kind_sizes(const Manifest& manifest);

// cache, generation, path, features, text, left_out, kinds{}, settings{}.
Json info_json(const Manifest& manifest, const std::string& folder);

struct ExplainedEntries {
  std::string folder;
  std::vector<EntryReason> entries;
};
// Of the utterance `id`; a cache that is not there holds nothing, and looking does not make it.
ExplainedEntries explain_utterance(const config::Settings& settings, Io& io, const std::string& id,
                                   std::stop_token stop);
// id, cache, entries[].
Json explain_json(const ExplainedEntries& explained, const std::string& id);

// cache, rows …, built, reused, bytes, clips_per_s, shards_written, stopped, rejects_file, voices,
// kinds{}.
Json precompute_json(const PrecomputeReport& report, double seconds);

// How `data check` reads a data set: every file, and every text with the vocabulary where that
// needs no file of its own.
data::IndexOptions check_options_of(const config::Settings& settings);

// Writes the list of rejects into the cache's folder, never among the sounds. The file; empty where
// there are no rejects.
Result<std::string> keep_rejects(const config::Settings& settings, Io& io,
                                 const data::Index& index);

}  // namespace stoker::cache
