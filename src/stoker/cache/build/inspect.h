// Compares a cache with what it should hold and says of every row: fresh, stale (and why), missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/cache/build/plan.h"
#include "stoker/cache/build/source_hints.h"
#include "stoker/cache/format/manifest.h"
#include "stoker/cache/read/shard_file.h"

namespace stoker::cache {

enum class RowState {
  kFresh,     // in the cache, made from this source with these settings
  kLeftOut,   // known to be bad, and its source has not changed
  kSettings,  // made with other settings
  kSource,    // made from another content of its source
  kShape,     // whole by its CRC, but no record of this row has that type or shape
  kMissing,   // not in the cache
  kGone,      // in the cache, but its source cannot be read now, which says nothing about it
};

// One planned shard as it was found.
struct ShardState {
  PlannedShard plan;
  std::shared_ptr<const ShardFile> file;  // where it could be opened
  std::optional<Error> fault;             // why not, when something is there
  bool is_listed = false;                 // by the manifest, and it is the one the manifest means
  std::vector<RowState> rows;
  std::vector<std::optional<SourceHint>> seen;  // stamps and digests found meanwhile
  std::vector<Error> row_faults;                // of kShape and kGone rows, with id and reason
  std::vector<std::size_t> unasked;             // records of ids that are no rows of the maker

  // Exactly the planned rows, none of them known to be bad (or left out): nothing to do.
  bool is_complete = false;
};

struct Inspection {
  Manifest manifest;                    // empty where there is none or it is damaged
  std::optional<Error> manifest_fault;  // never a passing one: that is thrown
  SourceHints hints;
  std::vector<ShardState> shards;  // as planned
  // Shard files or lines that are not planned, of kinds that are: they are removed.
  std::vector<std::uint32_t> other_numbers;
  // Lines of kinds that nobody asked for now: they stay as they are.
  std::vector<ShardLine> other_kinds;
};

enum class SourceCheck {
  kStamps,   // a source with the same stamp is the same
  kContent,  // every source is read
};

struct InspectOptions {
  SourceCheck sources = SourceCheck::kStamps;
  unsigned num_workers = 1;
  ReadMode access = ReadMode::kMap;
  std::stop_token stop{};
};

// Reads header, index and footer of every shard, not the payloads. Where a shard does not fit its
// line and the manifest has changed meanwhile, all is looked at again: what comes back is one
// generation. Throws what keeps the manifest from being read without proving damage, and
// MemoryError.
Inspection inspect_cache(const File& folder, std::span<const RecordMaker* const> makers,
                         const InspectOptions& options = {});

// The same for a generation that is open already: no manifest and no shard is opened again. The
// result refers to it.
Inspection inspect_generation(const File& folder, const OpenGeneration& open,
                              std::span<const RecordMaker* const> makers,
                              const InspectOptions& options = {});

// Of a cache whose folder is not there: every row is missing.
Inspection inspect_nothing(std::span<const RecordMaker* const> makers);

// Whether the shard holds the maker's kind (and array).
bool is_of_kind(const ShardView& view, const RecordMaker& maker);

}  // namespace stoker::cache
