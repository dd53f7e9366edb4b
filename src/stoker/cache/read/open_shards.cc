#include "stoker/cache/read/open_shards.h"

#include <fmt/format.h>

#include <utility>

#include "stoker/cache/errors.h"

namespace stoker::cache {
namespace {

// A builder publishes a manifest a few times a second at most; more rounds than this are a fault.
constexpr int kMaxRounds = 16;

Result<std::vector<ShardFile>> open_all(const File& folder, const Manifest& manifest,
                                        ShardAccess access) {
  std::vector<ShardFile> shards;
  shards.reserve(manifest.shards.size());
  for (const ShardLine& line : manifest.shards) {
    Result<ShardFile> shard = open_listed_shard(folder, line, access);
    if (!shard) return std::move(shard).error();
    shards.push_back(std::move(shard).value());
  }
  return shards;
}

}  // namespace

Result<ShardFile> open_listed_shard(const File& folder, const ShardLine& line, ShardAccess access) {
  Result<ShardFile> shard = ShardFile::open(folder, shard_file_name(line.number), access);
  if (!shard) return shard;
  const ShardView& view = shard->view();
  const bool fits = view.digest() == line.digest && view.header().kind == line.kind &&
                    view.header().settings == line.settings && view.size() == line.num_records &&
                    shard->size_bytes() == line.size_bytes &&
                    view.header().array_name_hash == (line.array.empty() ? 0 : hash64(line.array));
  if (fits) return shard;
  Error error;
  error.code = &kShardForeign;
  error.place.file = view.file();
  error.promised = fmt::format("manifest names digest {}", line.digest.hex());
  error.found = view.digest().hex();
  return error;
}

Result<OpenGeneration> open_generation(const File& folder, ShardAccess access) {
  Result<Manifest> manifest = load_manifest(folder);
  for (int round = 0;; ++round) {
    if (!manifest) return std::move(manifest).error();
    Result<std::vector<ShardFile>> shards = open_all(folder, *manifest, access);
    if (shards) return OpenGeneration{std::move(manifest).value(), std::move(shards).value()};
    Result<Manifest> again = load_manifest(folder);
    const bool changed = again.ok() && !(*again == *manifest);
    if (!changed || round == kMaxRounds) return std::move(shards).error();
    manifest = std::move(again);
  }
}

}  // namespace stoker::cache
