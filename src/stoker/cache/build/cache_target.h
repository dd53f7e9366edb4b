// The cache that a feature spec asks for: manifest head and makers of every record.
#pragma once

#include <memory>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/simd_level.h"
#include "stoker/cache/build/build.h"
#include "stoker/cache/build/index_makers.h"
#include "stoker/config/settings.h"
#include "stoker/data/features/feature_spec.h"

namespace stoker::cache {

// Manifest head without shards: numeric path, digests, and every setting behind them, code versions
// and vocabulary among them. Needs no index.
Manifest wanted_head(const config::Settings& settings, SimdLevel level);

// Everything needed to build or check the cache. The spec must outlive it. Const access is
// thread-safe.
class CacheTarget {
 public:
  // Throws StorageError for array folders that are not there.
  CacheTarget(const config::Settings& settings, const data::FeatureSpec& spec, Io& io);

  const BuildTarget& target() const noexcept { return target_; }
  const SortedRows& rows() const noexcept { return rows_; }

 private:
  void add_index_makers(const data::FeatureSpec& spec, config::CacheContent content);
  void add_array_makers(const config::CacheSettings& settings, Io& io);

  SortedRows rows_;
  std::vector<std::unique_ptr<RecordMaker>> makers_;
  BuildTarget target_;
};

}  // namespace stoker::cache
