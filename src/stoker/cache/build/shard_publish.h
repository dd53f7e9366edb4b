// Puts a shard on disk so that it is either whole or not there, whatever happens.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "stoker/base/io/io.h"
#include "stoker/base/result.h"
#include "stoker/cache/format/manifest.h"
#include "stoker/cache/format/shard_writer.h"

namespace stoker::cache {

// Temp file in the same folder, allocate, write, fsync, open again and check every byte, rename,
// fsync of the folder. After a failure the temp file is removed and the name still means what it
// meant before. `before_rename` runs when the new shard is whole and the old one still in place; it
// may throw. The line for the manifest comes back; committing it is the caller's.
Result<ShardLine> publish_shard(const File& folder, const ShardHeader& header,
                                const std::string& array, std::span<MadeRecord* const> records,
                                const std::function<void()>& before_rename = {});

// Makes `name` free for a file: a folder that has the name gets another one
// ("shard-00000.stk.aside" and so on), with all it holds. Anything else is left to the rename.
Result<void> set_folder_aside(const File& folder, const std::string& name);

// Removes unfinished files of builders that are gone. Precondition: the cache's lock is held.
Result<std::size_t> remove_leftovers(const File& folder);

}  // namespace stoker::cache
