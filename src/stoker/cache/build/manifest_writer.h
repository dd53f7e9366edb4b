// Keeps the manifest in step with the shards on disk while a cache is being built.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/cache/build/build.h"
#include "stoker/cache/build/inspect.h"
#include "stoker/cache/build/plan.h"
#include "stoker/cache/build/shard_assembly.h"

namespace stoker::cache {

// Used by one thread at a time. Every method throws what ends the build.
class ManifestWriter {
 public:
  // Takes over what `found` has complete. A shard that will be replaced stays in the manifest until
  // its successor is whole, so that a build that stops takes no good record away. Shards that
  // nobody asks for and lines whose file is damaged are withdrawn at once.
  ManifestWriter(const File& folder, const Manifest& head, const Inspection& found);

  // Publishes a whole shard: the manifest without its predecessor, the file, and the manifest with
  // it. That last one follows at once for the first shards and then with every sixteenth part, so
  // that a large cache does not rewrite it thousands of times; a shard not yet in it is checked and
  // adopted by the next build.
  void commit(ShardAssembly& shard);
  // Publishes the manifest with every shard so far, and with those that were withdrawn for a
  // successor that did not come.
  void finish();

  // Whether the complete shard is committed as it was found.
  bool is_kept(const ShardState& state) const { return kept_.contains(state.plan.number); }
  const Manifest& manifest() const noexcept { return manifest_; }
  std::uint64_t shards_written() const noexcept { return num_written_; }

 private:
  // A shard of the last generation that is still on disk and will be replaced.
  struct OldShard {
    ShardLine line;
    std::string first_id, last_id;
  };

  void publish_manifest();
  bool adopt(const ShardState& state);
  void take_over(const ShardState& state);
  void take_left_out(const Inspection& found);
  void remove_others(const Inspection& found);
  std::size_t withdraw_overlapping(const PlannedShard& plan);
  void withdraw_for(const PlannedShard& plan);

  const File& folder_;
  Manifest manifest_;                   // its left_out is put together when it is published
  std::vector<LeftOut> old_left_out_;   // of shards that stay, or were not replaced yet
  std::vector<LeftOut> made_left_out_;  // by this build
  std::map<std::uint32_t, ShardLine> kept_;
  std::map<std::uint32_t, OldShard> old_;        // in the manifest
  std::map<std::uint32_t, OldShard> withdrawn_;  // no longer in it, the file unchanged
  std::string published_;                        // bytes of the manifest on disk
  std::uint64_t num_written_ = 0;
  std::size_t num_pending_ = 0;
};

}  // namespace stoker::cache
