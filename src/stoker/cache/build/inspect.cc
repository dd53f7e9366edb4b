#include "stoker/cache/build/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "stoker/base/io/paths.h"
#include "stoker/base/thread/parallel.h"
#include "stoker/cache/errors.h"
#include "stoker/cache/read/damage.h"

namespace stoker::cache {
namespace {

// A builder publishes a manifest a few times a second at most; more rounds than this are a fault.
constexpr int kMaxRounds = 16;

// A row may have been left out more than once, of several arrays: the source tells which is meant.
bool is_left_out(const Manifest& manifest, const RecordMaker& maker, std::size_t row,
                 const Digest128* source) {
  return std::any_of(manifest.left_out.begin(), manifest.left_out.end(), [&](const LeftOut& out) {
    return out.kind == maker.kind() && out.id == maker.id(row) &&
           (source == nullptr || out.source == *source);
  });
}

const SourceHints& hints_for(const Inspection& all, const InspectOptions& options) {
  static const SourceHints kNone;
  return options.sources == SourceCheck::kStamps ? all.hints : kNone;
}

Error missing_shard(const File& folder, const std::string& name) {
  Error error;
  error.code = &kShardMissing;
  error.place.file = folder.path() + "/" + name;
  error.promised = "the shard that the manifest names";
  error.found = "no such file";
  return error;
}

void open_shard(const File& folder, const Manifest& manifest, ReadMode access, ShardState& state) {
  const std::string name = shard_file_name(state.plan.number);
  const ShardLine* line = manifest.find_shard(state.plan.number);
  FileInfo info;
  const SysResult found = folder.io().info_at(folder.handle(), name, info);
  if (!found.ok()) {
    if (found.error_number != ENOENT)
      state.fault = io_error("look at", folder.path() + "/" + name, found.error_number);
    else if (line != nullptr)
      state.fault = missing_shard(folder, name);
    return;
  }
  if (line != nullptr) {
    Result<ShardFile> listed = open_listed_shard(folder, *line, access);
    state.is_listed = listed.ok();
    if (listed) {
      state.file = std::make_shared<const ShardFile>(std::move(listed).value());
      return;
    }
    state.fault = std::move(listed).error();
  }
  Result<ShardFile> file = ShardFile::open(folder, name, access);
  if (file) {
    state.file = std::make_shared<const ShardFile>(std::move(file).value());
  } else if (!state.fault) {
    state.fault = std::move(file).error();
  }
}

// Borrows the shard that is open already.
void find_open_shard(const OpenGeneration& open, ShardState& state) {
  const auto& lines = open.manifest.shards;
  const auto line = std::find_if(lines.begin(), lines.end(),
                                 [&](const ShardLine& l) { return l.number == state.plan.number; });
  if (line == lines.end()) return;
  const ShardFile& shard = open.shards[static_cast<std::size_t>(line - lines.begin())];
  state.file = std::shared_ptr<const ShardFile>(std::shared_ptr<void>(), &shard);
  state.is_listed = true;
}

// A row that was never made needs no digest yet: only the stamp from before it will be read.
RowState state_of_new_row(ShardState& state, std::size_t i) {
  Result<std::optional<SourceStamp>> stamp = state.plan.maker->stamp(state.plan.first_row + i);
  if (stamp.ok() && stamp->has_value()) state.seen[i] = SourceHint{**stamp, {}};
  return RowState::kMissing;
}

RowState state_without_source(ShardState& state, std::string_view id, Error error) {
  if (error.code->exit == ExitCode::kMemory) raise(std::move(error));
  if (!is_passing(error)) return RowState::kSource;
  error.action = fmt::format("whether the record \"{}\" is up to date is not known", id);
  state.row_faults.push_back(std::move(error));
  return RowState::kGone;
}

RowState state_of_record(const Inspection& all, ShardState& state, std::size_t i,
                         std::size_t record, const InspectOptions& options) {
  const RecordMaker& maker = *state.plan.maker;
  const std::size_t row = state.plan.first_row + i;
  const ShardView& view = state.file->view();
  if (view.header().settings != maker.settings()) {
    state_of_new_row(state, i);
    return RowState::kSettings;
  }
  Result<Digest128> source = current_source(maker, row, hints_for(all, options), state.seen[i]);
  if (!source) return state_without_source(state, maker.id(row), std::move(source).error());
  const IndexEntry entry = view[record].at;
  if (entry.source != *source) return RowState::kSource;
  const std::optional<std::string> wanted = maker.shape_missed_by(row, entry.shape);
  if (!wanted) return RowState::kFresh;
  state.row_faults.push_back(view.record_error(record, {*wanted, entry.shape.text()}));
  return RowState::kShape;
}

RowState state_of_row(const Inspection& all, ShardState& state, std::size_t i,
                      const InspectOptions& options) {
  const RecordMaker& maker = *state.plan.maker;
  const std::size_t row = state.plan.first_row + i;
  const bool here = state.file && is_of_kind(state.file->view(), maker);
  const auto at = here ? state.file->view().find(maker.id(row)) : std::nullopt;
  if (at) return state_of_record(all, state, i, *at, options);
  if (!is_left_out(all.manifest, maker, row, nullptr)) return state_of_new_row(state, i);
  Result<Digest128> source = current_source(maker, row, hints_for(all, options), state.seen[i]);
  const bool is_same = source.ok() && is_left_out(all.manifest, maker, row, &*source);
  return is_same ? RowState::kLeftOut : RowState::kMissing;
}

bool is_row(const RecordMaker& maker, std::string_view id) {
  std::size_t begin = 0;
  for (std::size_t end = maker.num_rows(); begin < end;) {
    const std::size_t middle = begin + (end - begin) / 2;
    if (maker.id(middle) == id) return true;
    (maker.id(middle) < id ? begin : end) = maker.id(middle) < id ? middle + 1 : middle;
  }
  return false;
}

void find_unasked(ShardState& state) {
  if (!state.file || !is_of_kind(state.file->view(), *state.plan.maker)) return;
  for (std::size_t i = 0; i < state.file->view().size(); ++i)
    if (!is_row(*state.plan.maker, state.file->view()[i].id)) state.unasked.push_back(i);
}

void inspect_shard(const Inspection& all, ShardState& state, const InspectOptions& options) {
  state.rows.assign(state.plan.num_rows, RowState::kMissing);
  state.seen.resize(state.plan.num_rows);
  std::size_t num_kept = 0;
  bool all_known = true;
  for (std::size_t i = 0; i < state.plan.num_rows; ++i) {
    if (options.stop.stop_requested()) return;
    const RowState row = state.rows[i] = state_of_row(all, state, i, options);
    const bool is_kept = row == RowState::kFresh || row == RowState::kGone;
    num_kept += is_kept ? 1U : 0U;
    all_known = all_known && (is_kept || row == RowState::kLeftOut);
  }
  find_unasked(state);
  state.is_complete = all_known && state.file &&
                      is_of_kind(state.file->view(), *state.plan.maker) &&
                      state.file->view().header().settings == state.plan.maker->settings() &&
                      state.file->view().size() == num_kept;
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
  if (const Result<std::vector<FolderEntry>> entries = list_folder(folder))
    for (const FolderEntry& entry : *entries)
      if (const auto number = shard_number_of(entry.name)) others.insert(*number);
  for (const ShardLine& line : all.manifest.shards) {
    others.insert(line.number);
    if (!is_asked_for(kinds, line.number)) all.other_kinds.push_back(line);
  }
  for (const ShardState& state : all.shards) others.erase(state.plan.number);
  for (const std::uint32_t number : others)
    if (is_asked_for(kinds, number)) all.other_numbers.push_back(number);
}

void plan_into(std::span<const RecordMaker* const> makers, Inspection& all) {
  for (const PlannedShard& plan : plan_shards(makers)) all.shards.emplace_back().plan = plan;
}

Inspection inspect_once(const File& folder, std::span<const RecordMaker* const> makers,
                        const InspectOptions& options) {
  Inspection all;
  Result<Manifest> manifest = load_manifest(folder);
  if (manifest)
    all.manifest = std::move(manifest).value();
  else if (proves_damage(manifest.error()))
    all.manifest_fault = std::move(manifest).error();
  else
    raise(std::move(manifest).error());
  all.hints = load_source_hints(folder);
  plan_into(makers, all);
  run_parallel(options.num_workers, all.shards.size(), [&](std::size_t i) {
    open_shard(folder, all.manifest, options.access, all.shards[i]);
    inspect_shard(all, all.shards[i], options);
  });
  find_others(folder, makers, all);
  return all;
}

bool has_moved_on(const File& folder, const Inspection& all) {
  const bool has_fault =
      std::any_of(all.shards.begin(), all.shards.end(),
                  [](const ShardState& state) { return state.fault.has_value(); });
  if (!has_fault) return false;
  Result<Manifest> now = load_manifest(folder);
  return now.ok() && !(*now == all.manifest);
}

}  // namespace

bool is_of_kind(const ShardView& view, const RecordMaker& maker) {
  return view.header().kind == maker.kind() &&
         view.header().array_name_hash == (maker.array().empty() ? 0 : hash64(maker.array()));
}

Inspection inspect_cache(const File& folder, std::span<const RecordMaker* const> makers,
                         const InspectOptions& options) {
  Inspection all = inspect_once(folder, makers, options);
  for (int round = 0; round < kMaxRounds && has_moved_on(folder, all); ++round)
    all = inspect_once(folder, makers, options);
  return all;
}

Inspection inspect_generation(const File& folder, const OpenGeneration& open,
                              std::span<const RecordMaker* const> makers,
                              const InspectOptions& options) {
  Inspection all;
  all.manifest = open.manifest;
  all.hints = load_source_hints(folder);
  plan_into(makers, all);
  run_parallel(options.num_workers, all.shards.size(), [&](std::size_t i) {
    find_open_shard(open, all.shards[i]);
    inspect_shard(all, all.shards[i], options);
  });
  return all;
}

Inspection inspect_nothing(std::span<const RecordMaker* const> makers) {
  Inspection all;
  plan_into(makers, all);
  for (ShardState& state : all.shards) {
    state.rows.assign(state.plan.num_rows, RowState::kMissing);
    state.seen.resize(state.plan.num_rows);
  }
  return all;
}

}  // namespace stoker::cache
