#include "stoker/cache/maintain/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "stoker/base/errors.h"
#include "stoker/base/thread/parallel.h"
#include "stoker/base/thread/sync.h"
#include "stoker/cache/errors.h"
#include "stoker/cache/maintain/explain.h"
#include "stoker/cache/read/damage.h"
#include "stoker/cache/read/shard_file.h"

namespace stoker::cache {
namespace {

// What one shard adds to the report.
void add(VerifyReport& total, VerifyReport part) {
  total.checked += part.checked;
  total.ok_entries += part.ok_entries;
  total.stale += part.stale;
  total.corrupt += part.corrupt;
  total.missing += part.missing;
  total.unread += part.unread;
  total.left_out += part.left_out;
  total.size_bytes += part.size_bytes;
  std::move(part.faults.begin(), part.faults.end(), std::back_inserter(total.faults));
  total.bad_shards.merge(part.bad_shards);
  std::move(part.utterances.begin(), part.utterances.end(), std::back_inserter(total.utterances));
}

// One for each utterance, state and reason, whatever order the shards were checked in.
void sort_utterances(std::vector<BadUtterance>& utterances) {
  const auto key = [](const BadUtterance& each) { return std::tie(each.id, each.state, each.why); };
  std::sort(utterances.begin(), utterances.end(),
            [&](const BadUtterance& a, const BadUtterance& b) {
              return std::tuple_cat(key(a), std::tie(a.kinds)) <
                     std::tuple_cat(key(b), std::tie(b.kinds));
            });
  std::vector<BadUtterance> merged;
  for (BadUtterance& each : utterances) {
    if (!merged.empty() && key(merged.back()) == key(each)) {
      std::vector<std::string>& kinds = merged.back().kinds;
      if (kinds.back() != each.kinds.front()) kinds.push_back(each.kinds.front());
    } else {
      merged.push_back(std::move(each));
    }
  }
  utterances = std::move(merged);
}

std::string kind_of(const ShardLine& line) { return kind_text(line.kind, line.array); }

std::string kind_of(const ShardState& state) {
  return kind_text(state.plan.maker->kind(), state.plan.maker->array());
}

// Records of a file whose bytes were read: bad, or not to be read now.
void add_damaged(VerifyReport& part, std::string_view id, bool is_bad, std::string kind) {
  part.utterances.push_back(
      {std::string(id),
       is_bad ? "corrupt" : "unread",
       is_bad ? "its bytes are not what was written" : "it cannot be read now",
       {std::move(kind)}});
}

// No memory or no handles: the look itself failed, and nothing can be said.
const Error& or_raise(const Error& fault) {
  if (fault.code->exit == ExitCode::kMemory) raise(fault);
  return fault;
}

// A shard that could not be opened, with all its records.
void add_closed(const Error& fault, const ShardLine& line, VerifyReport& part) {
  Error error = or_raise(fault);
  const std::uint64_t num_records = std::max(line.num_records, 1U);
  const bool gone = error.code == &kIoMissing || error.code == &kShardMissing;
  if (gone) error.code = &kShardMissing;
  const bool is_bad = proves_damage(error);
  (gone ? part.missing : is_bad ? part.corrupt : part.unread) += num_records;
  part.faults.push_back(std::move(error));
  if (is_bad) part.bad_shards.insert(line.number);
}

// Records of an open shard that are bad, and those that could not be read.
struct RecordFaults {
  std::vector<std::size_t> bad;
  std::vector<std::size_t> unread;
};

RecordFaults check_records(const ShardFile& shard, VerifyReport& part) {
  RecordFaults found;
  std::vector<std::size_t> indices;
  const std::vector<Error> faults = check_open_shard(shard, indices);
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const bool is_bad = proves_damage(or_raise(faults[i]));
    (is_bad ? found.bad : found.unread).push_back(indices[i]);
    part.faults.push_back(faults[i]);
  }
  return found;
}

VerifyReport check_listed(const File& folder, const ShardLine& line) {
  VerifyReport part;
  part.checked = line.num_records;
  part.size_bytes = line.size_bytes;
  Result<ShardFile> shard = open_listed_shard(folder, line, ReadMode::kMap);
  if (!shard) {
    add_closed(shard.error(), line, part);
    return part;
  }
  const RecordFaults faults = check_records(*shard, part);
  for (const std::size_t record : faults.bad)
    add_damaged(part, shard->view()[record].id, true, kind_of(line));
  for (const std::size_t record : faults.unread)
    add_damaged(part, shard->view()[record].id, false, kind_of(line));
  part.corrupt = faults.bad.size();
  part.unread = faults.unread.size();
  part.ok_entries = line.num_records - part.corrupt - part.unread;
  if (!faults.bad.empty()) part.bad_shards.insert(line.number);
  return part;
}

void count_row(VerifyReport& part, RowState row) {
  switch (row) {
    case RowState::kFresh:
      ++part.ok_entries;
      break;
    case RowState::kLeftOut:
      ++part.left_out;
      return;
    case RowState::kSettings:
    case RowState::kSource:
    case RowState::kGone:
      ++part.stale;
      break;
    case RowState::kShape:
      ++part.corrupt;
      break;
    case RowState::kMissing:
      ++part.missing;
      break;
  }
  ++part.checked;
}

// The row's state in words; a row that is good has none.
void name_row(VerifyReport& part, const ShardState& state, std::size_t row, RowState is) {
  const auto put = [&](const char* word, const char* why) {
    const std::string_view id = state.plan.maker->id(state.plan.first_row + row);
    part.utterances.push_back({std::string(id), word, why, {kind_of(state)}});
  };
  const bool is_text = state.plan.maker->kind() == RecordKind::kTokens;
  switch (is) {
    case RowState::kFresh:
    case RowState::kLeftOut:
      return;
    case RowState::kSettings:
      return put("stale", "made with other settings");
    case RowState::kSource:
      return put("stale", is_text ? "the transcript changed" : "the content of its source changed");
    case RowState::kGone:
      return put("stale", "its source cannot be read now");
    case RowState::kShape:
      return put("corrupt", "no record of this utterance has its type or shape");
    case RowState::kMissing:
      return put("missing", "not in the cache");
  }
}

constexpr const char* kNoRow = "the data set has no utterance of this id";

Error no_row(const ShardView& view, std::size_t record) {
  Error error =
      view.record_error(record, {"an utterance of the data set", "an id that it does not have"});
  error.code = &kRowGone;
  return error;
}

// Records that no row asks for are stale: a build would take them out.
void count_unasked(const ShardState& state, VerifyReport& part) {
  for (const std::size_t record : state.unasked) {
    part.faults.push_back(no_row(state.file->view(), record));
    part.utterances.push_back(
        {std::string(state.file->view()[record].id), "stale", kNoRow, {kind_of(state)}});
    ++part.stale;
    ++part.checked;
  }
}

bool holds_id(const ShardState& state, const std::vector<std::size_t>& records,
              std::string_view id) {
  return std::any_of(records.begin(), records.end(),
                     [&](std::size_t record) { return state.file->view()[record].id == id; });
}

// Rows of a shard that is there but could not be opened, as good or bad as the reason says.
VerifyReport check_closed(const ShardState& state) {
  VerifyReport part;
  const bool is_bad = proves_damage(or_raise(*state.fault));
  part.faults.push_back(*state.fault);
  for (std::size_t i = 0; i < state.rows.size(); ++i) {
    if (state.rows[i] == RowState::kLeftOut) {
      ++part.left_out;
      continue;
    }
    add_damaged(part, state.plan.maker->id(state.plan.first_row + i), is_bad, kind_of(state));
    ++part.checked;
    ++(is_bad ? part.corrupt : part.unread);
  }
  if (is_bad) part.bad_shards.insert(state.plan.number);
  return part;
}

VerifyReport check_planned(const ShardState& state) {
  const bool is_missing = state.fault && state.fault->code == &kShardMissing;
  if (state.fault && !is_missing) return check_closed(state);
  VerifyReport part;
  RecordFaults faults;
  if (state.file && state.is_listed) {
    faults = check_records(*state.file, part);
    part.size_bytes = state.file->size_bytes();
  }
  if (state.fault) part.faults.push_back(*state.fault);
  for (std::size_t i = 0; i < state.rows.size(); ++i) {
    const std::string_view id = state.plan.maker->id(state.plan.first_row + i);
    const bool is_bad = holds_id(state, faults.bad, id);
    const bool is_unread = holds_id(state, faults.unread, id);
    if (is_bad || is_unread) {
      add_damaged(part, id, is_bad, kind_of(state));
      ++part.checked;
      ++(is_bad ? part.corrupt : part.unread);
      continue;
    }
    const bool is_known = state.is_listed || state.rows[i] == RowState::kLeftOut;
    const RowState row = is_known ? state.rows[i] : RowState::kMissing;
    name_row(part, state, i, row);
    count_row(part, row);
  }
  part.faults.insert(part.faults.end(), state.row_faults.begin(), state.row_faults.end());
  if (state.is_listed) count_unasked(state, part);
  if (!faults.bad.empty() || state.fault || !state.is_complete)
    part.bad_shards.insert(state.plan.number);
  return part;
}

// A shard of a kind that is asked for, but with a number that no row has now: all of it is too
// much.
VerifyReport check_surplus(const File& folder, const ShardLine& line) {
  VerifyReport part;
  Result<ShardFile> shard = open_listed_shard(folder, line, ReadMode::kMap);
  if (!shard) {
    add_closed(shard.error(), line, part);
    return part;
  }
  part.checked = part.stale = shard->view().size();
  part.size_bytes = line.size_bytes;
  for (std::size_t i = 0; i < shard->view().size(); ++i) {
    part.faults.push_back(no_row(shard->view(), i));
    part.utterances.push_back({std::string(shard->view()[i].id), "stale", kNoRow, {kind_of(line)}});
  }
  return part;
}

void check_side_files(const File& folder, VerifyReport& report) {
  const std::string name(kSourceHintsName);
  Result<File> file = open_beneath(folder, name, OpenFor::kRead);
  if (!file) return;
  Result<std::vector<std::byte>> bytes = read_whole(*file, std::uint64_t{4} << 30U);
  if (bytes && SourceHints::decode(*bytes)) return;
  if (!bytes && !proves_damage(bytes.error())) {
    report.faults.push_back(or_raise(bytes.error()));
    ++report.unread;
    return;
  }
  Error error;
  error.code = &kShardCorrupt;
  error.place.file = file->path();
  error.promised = "a table of file times with its CRC";
  error.found = "other bytes";
  error.action = "it is a hint only; the sources are read again";
  report.faults.push_back(std::move(error));
  ++report.corrupt;
}

}  // namespace

VerifyReport verify_bytes(const File& folder, const VerifyOptions& options) {
  const Manifest manifest = load_manifest(folder).take_or_raise();
  VerifyReport report;
  Mutex mutex;
  run_parallel(options.num_workers, manifest.shards.size(), [&](std::size_t i) {
    if (options.stop.stop_requested()) return;
    VerifyReport part = check_listed(folder, manifest.shards[i]);
    options.progress->advance(part.checked);
    const Lock lock(mutex);
    add(report, std::move(part));
  });
  check_side_files(folder, report);
  sort_utterances(report.utterances);
  return report;
}

VerifyReport verify_cache(const File& folder, const BuildTarget& target,
                          const VerifyOptions& options) {
  Inspection found = inspect_cache(
      folder, target.makers,
      {.sources = options.sources, .num_workers = options.num_workers, .stop = options.stop});
  VerifyReport report;
  if (found.manifest_fault) {
    report.faults.push_back(*found.manifest_fault);
    if (found.manifest_fault->code != &kNoCache) ++report.corrupt;
  }
  Mutex mutex;
  run_parallel(options.num_workers, found.shards.size(), [&](std::size_t i) {
    if (options.stop.stop_requested()) return;
    VerifyReport part = check_planned(found.shards[i]);
    options.progress->advance(part.checked);
    const Lock lock(mutex);
    add(report, std::move(part));
  });
  for (const ShardLine& line : found.other_kinds) add(report, check_listed(folder, line));
  for (const std::uint32_t number : found.other_numbers)
    if (const ShardLine* line = found.manifest.find_shard(number))
      add(report, check_surplus(folder, *line));
  check_side_files(folder, report);
  sort_utterances(report.utterances);
  std::sort(report.faults.begin(), report.faults.end(), [](const Error& a, const Error& b) {
    return std::tie(a.place.file, a.place.byte) < std::tie(b.place.file, b.place.byte);
  });
  return report;
}

void compare_after_fix(const VerifyReport& after, std::uint64_t num_left_out,
                       VerifyReport& report) {
  const std::uint64_t num_bad = report.num_bad();
  report.failed = std::min(num_bad, after.num_bad() + num_left_out);
  report.fixed = num_bad - report.failed;
}

std::vector<BuildReject> fix_cache(const File& folder, const BuildTarget& target,
                                   const VerifyOptions& options, VerifyReport& report) {
  std::vector<BuildReject> rejects;
  BuildOptions build;
  build.num_workers = options.num_workers;
  build.rebuild = report.bad_shards;
  build.stop = options.stop;
  build.progress = options.progress;
  build.on_reject = [&](const BuildReject& reject) { rejects.push_back(reject); };
  build_cache(folder, target, build);
  compare_after_fix(verify_cache(folder, target, options), rejects.size(), report);
  return rejects;
}

}  // namespace stoker::cache
