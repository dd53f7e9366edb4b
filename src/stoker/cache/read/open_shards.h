// Opens every shard of one generation, even while a builder goes on to the next.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/result.h"
#include "stoker/cache/format/manifest.h"
#include "stoker/cache/format/shard_file.h"

namespace stoker::cache {

struct OpenGeneration {
  Manifest manifest;
  std::vector<ShardFile> shards;  // in the order of manifest.shards
};

// Opens one shard and compares it with its manifest line: E-CACHE-FOREIGN when it is another one.
Result<ShardFile> open_listed_shard(const File& folder, const ShardLine& line, ShardAccess access);

// A shard that does not fit its line is looked at again with a fresh manifest, since a builder may
// have replaced both; only when the manifest stayed the same is it an error.
Result<OpenGeneration> open_generation(const File& folder, ShardAccess access);

}  // namespace stoker::cache
