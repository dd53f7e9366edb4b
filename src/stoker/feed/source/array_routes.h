// Where each row's named arrays come from: a fresh record of the cache, or the user's .npy file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/cache/build/array_maker.h"
#include "stoker/cache/build/cache_target.h"
#include "stoker/cache/read/reader.h"
#include "stoker/feed/fallbacks.h"
#include "stoker/feed/source/record_lookup.h"
#include "stoker/feed/source/utterance_source.h"

namespace stoker::feed {

// One array over all rows of the index. A row without record and without source has no such array.
struct ArrayRoute {
  static constexpr std::uint32_t kNoSource = ~std::uint32_t{0};

  ArrayKind kind;
  const cache::ArrayMaker* maker = nullptr;  // null: cache.arrays names no folder for it
  std::vector<ArrayRow> rows;
  std::vector<std::uint32_t> sources;  // row of the maker, or kNoSource
};

struct ArrayRequest {
  std::span<const std::string> names;
  const cache::CacheTarget& target;
  const RecordLookup& routes;
  const cache::Reader* reader;  // null: no cache is used
  Fallbacks& fallbacks;
};

// Decides the route of every array asked for. Throws E-FEED-NOTCACHED where nobody has it,
// DataError E-NPY-MIXED where its rows are not of one kind.
std::vector<ArrayRoute> find_array_routes(const ArrayRequest& request);

// Rows whose file has no fresh record, as the cache would have it after `stoker precompute`.
std::vector<std::size_t> rows_without_record(const ArrayRoute& route);

}  // namespace stoker::feed
