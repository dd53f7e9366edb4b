// The whole check of a cache from settings alone: find it, compare it with its data set, rebuild
// what is bad.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/json.h"
#include "stoker/cache/build/precompute.h"
#include "stoker/cache/maintain/verify.h"
#include "stoker/config/settings.h"

namespace stoker::cache {

// More utterances than this are listed in a file.
inline constexpr std::size_t kMostShownUtterances = 10;

// Threads for building and checking: data.num_workers, auto = cores allowed, at least one.
unsigned build_workers(const config::Settings& settings);

// The folder that cache.dir or the data set's settings name; the data set is not read. Throws
// E-DATA-SOURCE where neither is named.
std::string cache_folder_of(const config::Settings& settings, Io& io);

struct CheckRequest {
  bool fix = false;
  VerifyOptions verify{};
  std::function<void(const std::string&)> say{};   // one line for people
  std::function<void(const std::string&)> warn{};  // one line that matters
};

struct CheckedCache {
  std::string folder;
  std::optional<data::IndexCounts> rows;  // where the data set is known
  std::vector<Error> rejects;             // of the index: rows that have no records
  VerifyReport report;
  bool is_good = false;  // or made good, where that was asked for
};

// With the data set where one is named, else of the bytes alone; a fix, and a look at the sources,
// need one. Rebuilds as precompute does: with the data set's bound for bad rows, each row left out
// named by `warn`. Throws E-CACHE-NONE where there is no cache, and what indexing and building
// throw.
CheckedCache check_cache(const config::Settings& settings, Io& io, const CheckRequest& request);

// A JSON object a line for each utterance that is not good.
std::string utterance_lines(const VerifyReport& report);
// Writes them to verify.jsonl in the cache where they are more than are shown, else removes the
// list of an earlier check. The file, or empty.
Result<std::string> keep_utterance_lines(Io& io, const CheckedCache& checked);

// cache, rows …, checked, ok_entries, stale, corrupt, missing, unread, fixed, failed, left_out,
// bytes, faults, num_utterances, utterances, list; `list_file` empty: none.
Json check_json(const CheckedCache& checked, const std::string& list_file);

}  // namespace stoker::cache
