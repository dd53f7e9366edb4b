// Checks every byte of a shard and names each bad record.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/cache/format/shard_file.h"

namespace stoker::cache {

// One fault a bad record; a single one when header, index or footer are bad, since then no record
// can be told apart. Empty when the shard is whole.
std::vector<Error> check_shard_bytes(const std::string& file, std::span<const std::byte> bytes);

// The same for an open shard, whose index was checked when it was opened. `bad_records` receives
// their places in the index.
std::vector<Error> check_open_shard(const ShardFile& shard, std::vector<std::size_t>& bad_records);

}  // namespace stoker::cache
