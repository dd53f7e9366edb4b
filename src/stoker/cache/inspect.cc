#include "stoker/cache/inspect.h"

#include <algorithm>
#include <set>
#include <utility>

#include "stoker/cache/errors.h"
#include "stoker/cache/open_shards.h"
#include "stoker/cache/parallel.h"

namespace stoker::cache {
namespace {

const LeftOut* find_left_out(const Manifest& manifest, RecordKind kind, std::string_view id) {
  for (const LeftOut& row : manifest.left_out)
    if (row.kind == kind && row.id == id) return &row;
  return nullptr;
}

bool same_kind(const ShardState& state) {
  const ShardHeader& header = state.file->view().header();
  const RecordMaker& maker = *state.plan.maker;
  return header.kind == maker.kind() &&
         header.array_name_hash == (maker.array().empty() ? 0 : hash64(maker.array()));
}

void open_shard(const File& folder, const Manifest& manifest, ShardAccess access,
                ShardState& state) {
  const std::string name = shard_file_name(state.plan.number);
  const ShardLine* line = manifest.find_shard(state.plan.number);
  FileInfo info;
  if (!folder.io().info_at(folder.handle(), name, info).ok()) {
    if (line == nullptr) return;
    Error error;
    error.code = &kShardMissing;
    error.place.file = folder.path() + "/" + name;
    error.promised = "a shard the manifest names";
    error.found = "no such file";
    state.fault = std::move(error);
    return;
  }
  if (line != nullptr) {
    Result<ShardFile> listed = open_listed_shard(folder, *line, access);
    state.is_listed = listed.ok();
    if (listed) {
      state.file = std::move(listed).value();
      return;
    }
    state.fault = std::move(listed).error();
  }
  Result<ShardFile> file = ShardFile::open(folder, name, access);
  if (file) {
    state.file = std::move(file).value();
  } else if (!state.fault) {
    state.fault = std::move(file).error();
  }
}

// A row that was never made needs no digest yet: only the stamp from before it will be read.
RowState state_of_new_row(ShardState& state, std::size_t i) {
  Result<std::optional<SourceStamp>> stamp = state.plan.maker->stamp(state.plan.first_row + i);
  if (stamp.ok() && stamp->has_value()) state.seen[i] = SourceHint{**stamp, {}};
  return RowState::kMissing;
}

RowState state_of_row(const Inspection& all, ShardState& state, std::size_t i,
                      const InspectOptions& options) {
  const RecordMaker& maker = *state.plan.maker;
  const std::size_t row = state.plan.first_row + i;
  const bool here = state.file && same_kind(state);
  const auto at = here ? state.file->view().find(maker.id(row)) : std::nullopt;
  const LeftOut* left_out = find_left_out(all.manifest, maker.kind(), maker.id(row));
  if (!at && left_out == nullptr) return state_of_new_row(state, i);
  if (at && state.file->view().header().settings != maker.settings()) {
    state_of_new_row(state, i);
    return RowState::kSettings;
  }
  static const SourceHints kNoHints;
  const SourceHints& hints = options.sources == SourceCheck::kStamps ? all.hints : kNoHints;
  Result<Digest128> source = current_source(maker, row, hints, state.seen[i]);
  if (at && !source) return RowState::kGone;
  if (at)
    return state.file->view()[*at].at.source == *source ? RowState::kFresh : RowState::kSource;
  return source.ok() && left_out->source == *source ? RowState::kLeftOut : RowState::kMissing;
}

void inspect_shard(const Inspection& all, ShardState& state, const InspectOptions& options) {
  state.rows.resize(state.plan.num_rows);
  state.seen.resize(state.plan.num_rows);
  std::size_t num_fresh = 0;
  bool all_known = true;
  for (std::size_t i = 0; i < state.plan.num_rows; ++i) {
    if (options.stop.stop_requested()) return;
    state.rows[i] = state_of_row(all, state, i, options);
    num_fresh += state.rows[i] == RowState::kFresh ? 1U : 0U;
    all_known =
        all_known && (state.rows[i] == RowState::kFresh || state.rows[i] == RowState::kLeftOut);
  }
  state.is_complete = all_known && state.file && same_kind(state) &&
                      state.file->view().header().settings == state.plan.maker->settings() &&
                      state.file->view().size() == num_fresh;
}

// The set of arrays is one thing: asking for some means exactly those, asking for none keeps all.
bool is_asked_for(const std::set<RecordKind>& kinds, std::uint32_t number) {
  for (const RecordKind kind : kinds) {
    const std::uint32_t slot = number % kShardsPerChunk;
    if (slot == slot_of(kind, 0) || (kind == RecordKind::kArray && slot > slot_of(kind, 0)))
      return true;
  }
  return false;
}

void find_others(const File& folder, std::span<const RecordMaker* const> makers, Inspection& all) {
  std::set<RecordKind> kinds;
  for (const RecordMaker* maker : makers) kinds.insert(maker->kind());
  std::set<std::uint32_t> others;
  std::vector<FolderEntry> entries;
  folder.io().list(folder.handle(), entries);
  for (const FolderEntry& entry : entries)
    if (const auto number = shard_number_of(entry.name)) others.insert(*number);
  for (const ShardLine& line : all.manifest.shards) {
    others.insert(line.number);
    if (!is_asked_for(kinds, line.number)) all.other_kinds.push_back(line);
  }
  for (const ShardState& state : all.shards) others.erase(state.plan.number);
  for (const std::uint32_t number : others)
    if (is_asked_for(kinds, number)) all.other_numbers.push_back(number);
}

}  // namespace

Inspection inspect_cache(const File& folder, std::span<const RecordMaker* const> makers,
                         const InspectOptions& options) {
  Inspection all;
  Result<Manifest> manifest = load_manifest(folder);
  if (manifest)
    all.manifest = std::move(manifest).value();
  else
    all.manifest_fault = std::move(manifest).error();
  all.hints = load_source_hints(folder);
  for (const PlannedShard& plan : plan_shards(makers)) all.shards.emplace_back().plan = plan;
  run_parallel(options.num_workers, all.shards.size(), [&](std::size_t i) {
    open_shard(folder, all.manifest, options.access, all.shards[i]);
    inspect_shard(all, all.shards[i], options);
  });
  find_others(folder, makers, all);
  return all;
}

}  // namespace stoker::cache
