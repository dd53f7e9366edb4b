#include "stoker/cache/verify.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "stoker/base/sync.h"
#include "stoker/cache/errors.h"
#include "stoker/cache/open_shards.h"
#include "stoker/cache/parallel.h"
#include "stoker/cache/shard_check.h"

namespace stoker::cache {
namespace {

// What one shard adds to the report.
void add(VerifyReport& total, VerifyReport part) {
  total.checked += part.checked;
  total.ok_entries += part.ok_entries;
  total.stale += part.stale;
  total.corrupt += part.corrupt;
  total.missing += part.missing;
  total.left_out += part.left_out;
  total.size_bytes += part.size_bytes;
  std::move(part.faults.begin(), part.faults.end(), std::back_inserter(total.faults));
  total.bad_shards.merge(part.bad_shards);
}

VerifyReport check_listed(const File& folder, const ShardLine& line) {
  VerifyReport part;
  part.checked = line.num_records;
  part.size_bytes = line.size_bytes;
  Result<ShardFile> shard = open_listed_shard(folder, line, ShardAccess::kMap);
  if (!shard) {
    Error error = std::move(shard).error();
    const bool gone = error.code->name == "E-IO-MISSING";
    if (gone) error.code = &kShardMissing;
    (gone ? part.missing : part.corrupt) = std::max(line.num_records, 1U);
    part.faults.push_back(std::move(error));
    part.bad_shards.insert(line.number);
    return part;
  }
  std::vector<std::size_t> bad_records;
  part.faults = check_open_shard(*shard, bad_records);
  part.corrupt = bad_records.size();
  part.ok_entries = line.num_records - bad_records.size();
  if (!bad_records.empty()) part.bad_shards.insert(line.number);
  return part;
}

void count_row(VerifyReport& part, RowState row, bool is_corrupt) {
  switch (row) {
    case RowState::kFresh:
      ++(is_corrupt ? part.corrupt : part.ok_entries);
      break;
    case RowState::kLeftOut:
      ++part.left_out;
      return;
    case RowState::kSettings:
    case RowState::kSource:
    case RowState::kGone:
      ++(is_corrupt ? part.corrupt : part.stale);
      break;
    case RowState::kMissing:
      ++part.missing;
      break;
  }
  ++part.checked;
}

VerifyReport check_planned(ShardState& state) {
  VerifyReport part;
  std::vector<std::size_t> bad_records;
  if (state.file && state.is_listed) {
    part.faults = check_open_shard(*state.file, bad_records);
    part.size_bytes = state.file->size_bytes();
  }
  // A shard that is there but cannot be opened has lost every record.
  const bool is_lost = state.fault && state.fault->code != &kShardMissing;
  if (state.fault) part.faults.push_back(*state.fault);
  for (std::size_t i = 0; i < state.rows.size(); ++i) {
    const std::string_view id = state.plan.maker->id(state.plan.first_row + i);
    const bool is_bad =
        is_lost || std::any_of(bad_records.begin(), bad_records.end(), [&](std::size_t record) {
          return state.file->view()[record].id == id;
        });
    // A row of a lost shard was there once; whether it is fresh cannot be known.
    const RowState row =
        is_lost && state.rows[i] == RowState::kMissing ? RowState::kFresh : state.rows[i];
    count_row(part, state.is_listed || is_lost ? row : RowState::kMissing, is_bad);
  }
  if (!part.faults.empty() || !state.is_complete) part.bad_shards.insert(state.plan.number);
  return part;
}

void check_side_files(const File& folder, VerifyReport& report) {
  const std::string name(kSourceHintsName);
  Result<File> file = open_beneath(folder, name, OpenFor::kRead);
  if (!file) return;
  Result<std::vector<std::byte>> bytes = read_whole(*file, std::uint64_t{4} << 30U);
  if (bytes && SourceHints::decode(*bytes)) return;
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
  check_side_files(folder, report);
  std::sort(report.faults.begin(), report.faults.end(), [](const Error& a, const Error& b) {
    return std::tie(a.place.file, a.place.byte) < std::tie(b.place.file, b.place.byte);
  });
  return report;
}

void fix_cache(const File& folder, const BuildTarget& target, const VerifyOptions& options,
               VerifyReport& report) {
  const std::uint64_t num_bad = report.stale + report.corrupt + report.missing;
  BuildOptions build;
  build.num_workers = options.num_workers;
  build.rebuild = report.bad_shards;
  build.stop = options.stop;
  build.progress = options.progress;
  build_cache(folder, target, build);
  const VerifyReport after = verify_cache(folder, target, options);
  report.failed = std::min(num_bad, after.stale + after.corrupt + after.missing);
  report.fixed = num_bad - report.failed;
}

}  // namespace stoker::cache
