// Turns finished records into the exact bytes of a shard, piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/digest/digest.h"
#include "stoker/base/io/io.h"
#include "stoker/base/result.h"
#include "stoker/cache/format/shard_format.h"

namespace stoker::cache {

// A record that was made: its payload follows kRecordHeaderBytes of room, so that header,
// payload and filling are written in one call.
struct MadeRecord {
  std::string id;
  ArrayShape shape;
  Digest128 source;
  std::uint64_t source_bytes = 0;
  std::vector<std::byte> bytes;  // room, payload, filling; only grows, so it can be reused

  // Makes room for a payload of this shape and gives it to be filled; the filling is zeroed.
  std::span<std::byte> reset(const ArrayShape& new_shape);
  std::span<const std::byte> payload() const;
  std::size_t total_bytes() const;
};

// Bytes of a shard with these records: what is allocated before writing.
std::uint64_t shard_bytes(std::span<const MadeRecord* const> records);

// Writes the shard at `file` from its start: headers and CRCs are filled in, and the digest of
// index and footer comes back. Records must be sorted by id.
Result<Digest128> write_shard(const File& file, const ShardHeader& header,
                              std::span<MadeRecord* const> records);

}  // namespace stoker::cache
