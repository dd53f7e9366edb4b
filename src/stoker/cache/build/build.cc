#include "stoker/cache/build/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <utility>

#include "stoker/base/number_text.h"
#include "stoker/base/thread/parallel.h"
#include "stoker/base/thread/sync.h"
#include "stoker/cache/build/manifest_writer.h"
#include "stoker/cache/build/old_records.h"
#include "stoker/cache/build/plan.h"
#include "stoker/cache/build/shard_assembly.h"
#include "stoker/cache/build/shard_publish.h"
#include "stoker/cache/errors.h"
#include "stoker/cache/read/damage.h"

namespace stoker::cache {
namespace {

// Whole shards wait for the disk while the next ones are made; more than this is memory wasted.
constexpr std::size_t kShardsInFlight = 3;

std::string counts_key(const RecordMaker& maker) {
  const std::string kind(kind_name(maker.kind()));
  return maker.array().empty() ? kind : kind + " " + std::string(maker.array());
}

// A failure that says nothing about the row, so leaving the row out would be wrong.
bool ends_the_build(const Error& error) {
  return error.code->exit == ExitCode::kMemory || error.code->exit == ExitCode::kUsage;
}

class Build {
 public:
  Build(const File& folder, const BuildTarget& target, const BuildOptions& options)
      : folder_(folder),
        target_(target),
        options_(options),
        found_(inspect_cache(folder, target.makers,
                             {.sources = SourceCheck::kStamps,
                              .num_workers = options.num_workers,
                              .stop = options.stop})) {}

  BuildReport run();

 private:
  void refuse_unread_shards() const;
  void check_bytes();
  std::vector<Error> check_kept_bytes(const ShardFile& shard) const;
  void check_other_kinds();
  void check_space(const std::vector<ShardState*>& todo) const;
  void note_kept(const ShardState& state);
  void make_all(std::vector<ShardState*> todo, ManifestWriter& writer);
  void run_worker(AssemblyLine& line, const OldRecords& old);
  void run_writer(AssemblyLine& line, ManifestWriter& writer);
  void make_row(const AssemblyLine::Task& task, RecordMaker::Worker& worker, const OldRecords& old);
  bool take_over(const RecordMaker& maker, std::size_t row_index, const OldRecords& old,
                 AssemblyRow& row) const;
  void note_shard(const ShardAssembly& shard);
  void count_reject(const BuildReject& reject);
  void check_sources_unchanged() const;
  void publish_hints();

  const File& folder_;
  const BuildTarget& target_;
  const BuildOptions& options_;
  Inspection found_;
  BuildReport report_;
  SourceHints hints_;
  std::set<std::string, std::less<>> rejected_ids_;  // these three belong to the writer's thread
  std::set<std::string, std::less<>> built_ids_;
  std::set<std::string, std::less<>> all_ids_;
  std::vector<std::pair<const RecordMaker*, std::size_t>> made_rows_;
  Mutex reject_mutex_;
  std::atomic<std::uint64_t> num_rejected_{0};
};

// What could not be read now may be good: replacing or withdrawing it would be wrong.
void Build::refuse_unread_shards() const {
  for (const ShardState& state : found_.shards)
    if (state.fault && !proves_damage(*state.fault)) raise(*state.fault);
}

std::vector<Error> Build::check_kept_bytes(const ShardFile& shard) const {
  std::vector<std::size_t> bad_records;
  std::vector<Error> faults = check_open_shard(shard, bad_records);
  for (const Error& fault : faults)
    if (!proves_damage(fault)) raise(fault);
  return faults;
}

void Build::check_bytes() {
  Mutex mutex;
  run_parallel(options_.num_workers, found_.shards.size(), [&](std::size_t i) {
    ShardState& state = found_.shards[i];
    if (options_.stop.stop_requested() || !state.file || !state.is_listed) return;
    std::vector<Error> faults = check_kept_bytes(*state.file);
    if (faults.empty()) return;
    state.is_complete = false;
    const Lock lock(mutex);
    report_.damage.insert(report_.damage.end(), faults.begin(), faults.end());
  });
  check_other_kinds();
}

// Nobody can make these again here: a damaged one is withdrawn, so that no reader meets it.
void Build::check_other_kinds() {
  std::erase_if(found_.other_kinds, [&](const ShardLine& line) {
    if (options_.stop.stop_requested()) return false;
    Result<ShardFile> shard = open_listed_shard(folder_, line, ReadMode::kMap);
    if (!shard && !proves_damage(shard.error())) raise(shard.error());
    const std::vector<Error> faults =
        shard ? check_kept_bytes(*shard) : std::vector<Error>{shard.error()};
    report_.damage.insert(report_.damage.end(), faults.begin(), faults.end());
    return !faults.empty();
  });
}

void Build::check_space(const std::vector<ShardState*>& todo) const {
  std::uint64_t needed = 0;
  for (const ShardState* state : todo) needed += expected_shard_bytes(state->plan);
  std::uint64_t free_bytes = 0;
  const SysResult asked = folder_.io().free_space(folder_.handle(), free_bytes);
  if (!asked.ok() || needed <= free_bytes) return;
  Error error;
  error.code = &kCacheSpace;
  error.place.file = folder_.path();
  error.promised = fmt::format("{} of free space for {} shards", bytes_text(needed), todo.size());
  error.found = bytes_text(free_bytes);
  raise(std::move(error));
}

void Build::note_kept(const ShardState& state) {
  const RecordMaker& maker = *state.plan.maker;
  KindCounts& counts = report_.kinds[counts_key(maker)];
  for (std::size_t i = 0; i < state.rows.size(); ++i) {
    const std::string id(maker.id(state.plan.first_row + i));
    if (state.seen[i]) hints_.set(source_key(maker, state.plan.first_row + i), *state.seen[i]);
    if (state.rows[i] == RowState::kLeftOut) {
      rejected_ids_.insert(id);
      for (const LeftOut& row : found_.manifest.left_out) {
        if (row.kind != maker.kind() || row.id != id) continue;
        Error error;
        error.code = &kRowLeftOut;
        error.place.file = id;
        error.promised = "a usable source, as when last built";
        error.found = row.code;
        report_.rejects.push_back({maker.kind(), id, std::move(error)});
      }
      continue;
    }
    all_ids_.insert(id);
    ++counts.reused;
  }
}

// The row's record may be in another shard than planned now, after rows came or went. Its source
// is read only when there is such a record and no hint knows the source's digest.
bool Build::take_over(const RecordMaker& maker, std::size_t row_index, const OldRecords& old,
                      AssemblyRow& row) const {
  if (!old.has(maker, row_index)) return false;
  std::optional<SourceHint> seen;
  Result<Digest128> source = current_source(maker, row_index, found_.hints, seen);
  if (!source) {
    // A good record stays while its source cannot be read: it would be lost for nothing.
    if (!is_passing(source.error()) || ends_the_build(source.error())) return false;
    return old.copy_any_into(maker, row_index, row.record);
  }
  if (!old.copy_into(maker, row_index, *source, row.record)) return false;
  row.seen = seen;
  return true;
}

void Build::make_row(const AssemblyLine::Task& task, RecordMaker::Worker& worker,
                     const OldRecords& old) {
  ShardState& state = *task.shard->state;
  const RecordMaker& maker = *state.plan.maker;
  const std::size_t row_index = state.plan.first_row + task.row;
  AssemblyRow& row = task.shard->rows[task.row];
  row.record.id = maker.id(row_index);
  row.record.source = {};
  row.record.source_bytes = 0;
  row.reject.reset();
  row.seen = state.seen[task.row];
  row.reused = take_over(maker, row_index, old, row);
  if (row.reused) return;
  Result<void> made = worker.make(row_index, row.record);
  if (!made) {
    if (ends_the_build(made.error())) raise(made.error());
    row.reject = made.error();
  } else if (row.seen) {
    row.seen->digest = row.record.source;
  }
}

void Build::run_worker(AssemblyLine& line, const OldRecords& old) {
  std::map<const RecordMaker*, std::unique_ptr<RecordMaker::Worker>> workers;
  while (!options_.stop.stop_requested()) {
    const std::optional<AssemblyLine::Task> task = line.next_task();
    if (!task) return;
    const RecordMaker* maker = task->shard->state->plan.maker;
    std::unique_ptr<RecordMaker::Worker>& worker = workers[maker];
    if (worker == nullptr) worker = maker->make_worker();
    make_row(*task, *worker, old);
    options_.progress->advance(1);
    const AssemblyRow& row = task->shard->rows[task->row];
    if (row.reject) count_reject({maker->kind(), row.record.id, *row.reject});
    line.finish(*task);
  }
  line.stop();
}

void Build::count_reject(const BuildReject& reject) {
  if (options_.on_reject) {
    const Lock lock(reject_mutex_);
    options_.on_reject(reject);
  }
  options_.progress->reject(1);
  if (++num_rejected_ <= options_.max_rejects) return;
  Error too_many;
  too_many.code = &kTooManyBad;
  too_many.place.file = folder_.path();
  too_many.promised = fmt::format("at most {} bad rows", grouped(options_.max_rejects));
  too_many.found = "one more: " + error_line(reject.error);
  raise(std::move(too_many));
}

void Build::note_shard(const ShardAssembly& shard) {
  const RecordMaker& maker = *shard.state->plan.maker;
  KindCounts& counts = report_.kinds[counts_key(maker)];
  for (std::size_t i = 0; i < shard.state->plan.num_rows; ++i) {
    const AssemblyRow& row = shard.rows[i];
    if (row.seen && row.seen->digest != Digest128{})
      hints_.set(source_key(maker, shard.state->plan.first_row + i), *row.seen);
    if (row.reject) {
      rejected_ids_.insert(row.record.id);
      report_.rejects.push_back({maker.kind(), row.record.id, *row.reject});
      continue;
    }
    all_ids_.insert(row.record.id);
    ++(row.reused ? counts.reused : counts.built);
    if (row.reused) continue;
    built_ids_.insert(row.record.id);
    made_rows_.push_back({&maker, shard.state->plan.first_row + i});
  }
}

void Build::run_writer(AssemblyLine& line, ManifestWriter& writer) {
  while (ShardAssembly* shard = line.next_whole()) {
    writer.commit(*shard);
    note_shard(*shard);
    line.give_back(shard);
  }
  if (line.failure() == nullptr) writer.finish();
}

void Build::make_all(std::vector<ShardState*> todo, ManifestWriter& writer) {
  std::uint64_t num_planned = 0;
  for (const ShardState* state : todo) num_planned += state->plan.num_rows;
  options_.progress->set_total(num_planned);
  const OldRecords old(found_);
  AssemblyLine line(std::move(todo), kShardsInFlight);
  const auto guard = [&line](const std::function<void()>& body) {
    return [&line, body](const std::stop_token&) {
      try {
        body();
      } catch (...) {
        line.fail(std::current_exception());
      }
      line.leave();
    };
  };
  std::vector<Thread> threads;
  const auto start = [&](const char* name, const std::function<void()>& body) {
    line.enter();
    try {
      threads.emplace_back(name, guard(body));
    } catch (...) {
      // Ends the threads that run already; without one of them the others would wait for it.
      line.fail(std::current_exception());
      line.leave();
    }
  };
  for (unsigned i = 0; i < std::max(1U, options_.num_workers); ++i)
    start("stoker-build", [&] { run_worker(line, old); });
  start("stoker-commit", [&] { run_writer(line, writer); });
  while (!line.wait_for_end())
    if (options_.stop.stop_requested()) line.stop();
  for (Thread& thread : threads) thread.join();
  report_.stopped = line.stopped();
  if (line.failure() == nullptr) return;
  try {
    writer.finish();  // what is whole stays committed, whatever ended the build
  } catch (const std::exception&) {
    // The first failure is the one that is told.
  }
  std::rethrow_exception(line.failure());
}

void Build::check_sources_unchanged() const {
  for (const auto& [maker, row] : made_rows_) {
    const SourceHint* hint = hints_.find(source_key(*maker, row));
    Result<std::optional<SourceStamp>> stamp = maker->stamp(row);
    if (hint == nullptr || (stamp.ok() && stamp->has_value() && **stamp == hint->stamp)) continue;
    if (stamp.ok() && !stamp->has_value()) continue;
    Result<Digest128> digest = maker->source_digest(row);
    if (digest.ok() && *digest == hint->digest) continue;
    Error error;
    error.code = &kSourceChanged;
    error.place.file = std::string(maker->id(row));
    error.promised = fmt::format("source digest {}", hint->digest.hex());
    error.found = digest.ok() ? digest->hex() : digest.error().found;
    error.action = "its record is stale";
    raise(std::move(error));
  }
}

void Build::publish_hints() {
  const std::vector<std::byte> bytes = hints_.encode();
  if (load_source_hints(folder_).encode() == bytes && hints_.size() > 0) return;
  set_folder_aside(folder_, std::string(kSourceHintsName)).take_or_raise();
  publish_file(folder_, std::string(kSourceHintsName), bytes).take_or_raise();
}

BuildReport Build::run() {
  refuse_unread_shards();
  if (options_.check_bytes) check_bytes();
  for (const ShardState& state : found_.shards)
    for (const Error& fault : state.row_faults)
      (is_passing(fault) ? report_.unread : report_.damage).push_back(fault);
  remove_leftovers(folder_).take_or_raise();
  std::vector<ShardState*> todo;
  for (ShardState& state : found_.shards) {
    if (options_.rebuild.contains(state.plan.number)) state.is_complete = false;
    if (!state.is_complete) todo.push_back(&state);
  }
  if (options_.stop.stop_requested()) {
    report_.stopped = true;
    return std::move(report_);
  }
  check_space(todo);
  ManifestWriter writer(folder_, target_.head, found_);
  for (ShardState& state : found_.shards) {
    const bool kept = writer.is_kept(state);
    if (kept) note_kept(state);
    // Whole by its index, but adopting it showed a bad record.
    if (!kept && state.is_complete) todo.push_back(&state);
  }
  num_rejected_ = rejected_ids_.size();
  make_all(std::move(todo), writer);
  check_sources_unchanged();
  if (!report_.stopped) publish_hints();
  // A row is accepted or rejected as a whole, whichever of its records was bad.
  for (const std::string& id : rejected_ids_) {
    built_ids_.erase(id);
    all_ids_.erase(id);
  }
  report_.rows_built = built_ids_.size();
  report_.rows_reused = all_ids_.size() - built_ids_.size();
  report_.num_rejected_rows = rejected_ids_.size();
  report_.shards_written = writer.shards_written();
  for (const ShardLine& line : writer.manifest().shards) report_.size_bytes += line.size_bytes;
  std::sort(report_.rejects.begin(), report_.rejects.end(),
            [](const BuildReject& a, const BuildReject& b) {
              return std::tie(a.id, a.kind) < std::tie(b.id, b.kind);
            });
  return std::move(report_);
}

}  // namespace

BuildReport build_cache(const File& folder, const BuildTarget& target,
                        const BuildOptions& options) {
  return Build(folder, target, options).run();
}

}  // namespace stoker::cache
