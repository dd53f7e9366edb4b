// Keeps the manifest in step with the shards on disk while a cache is being built.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "stoker/base/io.h"
#include "stoker/cache/build.h"
#include "stoker/cache/inspect.h"
#include "stoker/cache/shard_assembly.h"

namespace stoker::cache {

// Used by one thread at a time. Every method throws what ends the build.
class Committer {
 public:
  // Takes over what `found` has complete, commits the removal of everything else and deletes the
  // files no one needs any more.
  Committer(const File& folder, const Manifest& head, const Inspection& found);

  // Publishes a whole shard. The manifest follows at once for the first shards and then with every
  // sixteenth part, so that a large cache does not rewrite it thousands of times; a shard not yet
  // in it is checked and adopted by the next build.
  void commit(ShardAssembly& shard);
  // Publishes the manifest with every shard so far.
  void finish();

  const Manifest& manifest() const noexcept { return manifest_; }
  std::uint64_t shards_written() const noexcept { return num_written_; }

 private:
  void publish_manifest();
  bool adopt(const ShardState& state);

  const File& folder_;
  Manifest manifest_;
  std::string published_;  // bytes of the manifest on disk
  std::uint64_t num_written_ = 0;
  std::size_t num_pending_ = 0;
};

}  // namespace stoker::cache
