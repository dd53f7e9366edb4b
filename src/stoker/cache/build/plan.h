// Which shards a cache has, from its rows alone: the same for every history.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "stoker/cache/build/record_maker.h"

namespace stoker::cache {

struct PlannedShard {
  const RecordMaker* maker = nullptr;
  std::uint32_t number = 0;
  std::size_t first_row = 0;
  std::size_t num_rows = 0;
};

// The slot of a kind in its chunk's numbers; arrays take 3, 4 … in byte order of their names.
std::uint32_t slot_of(RecordKind kind, std::size_t array_rank) noexcept;

// Chunks of 256 rows in id order, sorted by number. Precondition: each maker's ids are sorted and
// unique. Throws E-CACHE-PLACE for more arrays than there are slots.
std::vector<PlannedShard> plan_shards(std::span<const RecordMaker* const> makers);

// Bytes the planned shard will take, by the makers' expectations.
std::uint64_t expected_shard_bytes(const PlannedShard& shard);

}  // namespace stoker::cache
