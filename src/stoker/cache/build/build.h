// Builds or completes a cache: any number of workers, any history, the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/progress.h"
#include "stoker/cache/build/record_maker.h"
#include "stoker/cache/format/manifest.h"

namespace stoker::cache {

// A row left out of the cache, and why.
struct BuildReject {
  RecordKind kind = RecordKind::kMel;
  std::string id;
  Error error;
};

struct BuildOptions {
  unsigned num_workers = 1;           // threads that decode and transform; one more writes
  std::uint64_t max_rejects = ~0ULL;  // more than this many rejected rows end the build
  std::set<std::uint32_t> rebuild{};  // shards to write anew although their index is whole
  // Reads every byte of the shards that stay: what is damaged is made again. Without it only
  // header, index and footer are looked at.
  bool check_bytes = false;
  std::stop_token stop{};
  std::function<void(const BuildReject&)> on_reject{};  // as they happen, one at a time
  Progress* progress = &no_progress();                  // in records
};

struct KindCounts {
  std::uint64_t built = 0;
  std::uint64_t reused = 0;
};

struct BuildReport {
  std::uint64_t rows_built = 0;             // rows with at least one record made anew
  std::uint64_t rows_reused = 0;            // rows whose records were all there
  std::map<std::string, KindCounts> kinds;  // "mel", "tokens", "array f0" …
  std::vector<BuildReject> rejects;         // of this build, sorted; those known before too
  std::uint64_t num_rejected_rows = 0;
  std::uint64_t size_bytes = 0;  // of all shards
  std::uint64_t shards_written = 0;
  std::vector<Error> damage;  // found in what was there; it is made again or withdrawn
  std::vector<Error> unread;  // sources that could not be read now; their records stay
  bool stopped = false;       // what is whole is committed; the rest is left for the next run
};

// What the cache is to hold: numeric path, digests and settings for the manifest (shards and
// left_out are ignored) and the makers of its records.
struct BuildTarget {
  Manifest head;
  std::vector<const RecordMaker*> makers;
};

// Precondition: the caller holds the CacheLock of `folder`. A shard that cannot be read for a
// reason that proves no damage ends the build before anything is changed. Throws StorageError,
// MemoryError for what ends the build (E-CACHE-SPACE before any work), DataError for too many bad
// rows (E-CACHE-BADROWS) and sources that changed meanwhile (E-CACHE-CHANGED). Whatever happens,
// what was committed before stays valid, and the same call again goes on from there.
BuildReport build_cache(const File& folder, const BuildTarget& target, const BuildOptions& options);

}  // namespace stoker::cache
