// Checks every byte of a shard, and tells wrong bytes from bytes that could not be read just now.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/cache/read/shard_file.h"

namespace stoker::cache {

// A failure that says nothing about the content: no memory, no handles, no permission, a device or
// a network that answers with an error, an interrupted call. The same call may succeed later.
bool is_passing(const Error& error) noexcept;

// Whether the error shows that what is on disk is not what was committed: other bytes, another
// length, another file or none. Only such a shard or manifest may be withdrawn, replaced or counted
// as corrupt. Another format version is neither damage nor passing.
bool proves_damage(const Error& error) noexcept;

// One fault a bad record; a single one when header, index or footer are bad, since then no record
// can be told apart. Empty when the shard is whole.
std::vector<Error> check_shard_bytes(const std::string& file, std::span<const std::byte> bytes);

// The same for an open shard, whose index was checked when it was opened. `bad_records` receives
// their places in the index.
std::vector<Error> check_open_shard(const ShardFile& shard, std::vector<std::size_t>& bad_records);

}  // namespace stoker::cache
