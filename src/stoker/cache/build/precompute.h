// Builds the cache of a data set from its settings: index, location, lock, build, side files.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/progress.h"
#include "stoker/cache/build/build.h"
#include "stoker/cache/build/cache_lock.h"
#include "stoker/cache/build/cache_target.h"
#include "stoker/cache/format/settings_match.h"
#include "stoker/cache/read/cache_location.h"
#include "stoker/config/settings.h"
#include "stoker/data/index.h"

namespace stoker::cache {

enum class Overwrite { kNo, kYes };

// A data set, where its cache is, and what it should hold. Not movable: makers point inside.
struct WantedData {
  // `begin_at` is the level of a cache that is not there yet; absent: what STOKER_SIMD and the
  // processor say.
  WantedData(const config::Settings& settings, Io& io, std::stop_token stop,
             std::optional<SimdLevel> begin_at = {});
  WantedData(const WantedData&) = delete;
  WantedData& operator=(const WantedData&) = delete;

  data::Index index;
  CacheLocation place;

  // At the numeric path the cache has, where it has one.
  const BuildTarget& target() const { return target_->target(); }
  SimdLevel level() const { return spec_->mel().level(); }
  void use_level(const config::Settings& settings, SimdLevel level, Io& io);

 private:
  std::unique_ptr<data::FeatureSpec> spec_;  // refers to index
  std::unique_ptr<CacheTarget> target_;      // refers to spec_
};

struct PrecomputeOptions {
  Overwrite overwrite = Overwrite::kNo;
  WhenLocked when_locked = WhenLocked::kWait;
  BreakLock break_lock = BreakLock::kNo;
  unsigned num_workers = 1;
  std::optional<SimdLevel> begin_at{};  // of a cache that is not there yet
  bool check_bytes = false;             // of what stays (BuildOptions)
  std::set<std::uint32_t> rebuild{};    // shards to write anew
  std::string rejects_file{};           // empty: rejects.jsonl in the cache
  // Writes the list to rejects_file; empty: publish_output does.
  std::function<void(const std::string& lines)> write_rejects{};
  std::stop_token stop{};
  Progress* progress = &no_progress();
  std::function<void(const std::string&)> say{};   // one line for people
  std::function<void(const std::string&)> warn{};  // one line that matters
};

struct PrecomputeReport {
  data::IndexCounts counts;  // rows left out by the build counted as rejected
  BuildReport build;
  CacheLocation place;
  std::string rejects_file;
  std::string voices;  // how many speakers, which languages
};

// Throws what indexing and building throw; E-CACHE-SETTINGS (with the table by `say`) where an
// explicit folder holds a cache of other settings and overwrite is not given.
PrecomputeReport precompute(const config::Settings& settings, Io& io,
                            const PrecomputeOptions& options);
// The same for a data set that is indexed already.
PrecomputeReport precompute(const config::Settings& settings, WantedData& data, Io& io,
                            const PrecomputeOptions& options);

// Refuses, or says, what differs between the cache in `folder` and the wanted.
void check_cache_settings(const Manifest& have, const Manifest& want, const CacheLocation& place,
                          const PrecomputeOptions& options);

// Bad rows that may still be left out, the index's own counted.
std::uint64_t rejects_left(const config::DataSettings& settings, const data::IndexCounts& counts);

}  // namespace stoker::cache
