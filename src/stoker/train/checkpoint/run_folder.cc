#include "stoker/train/checkpoint/run_folder.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <utility>

#include "stoker/base/errors.h"
#include "stoker/base/io/paths.h"
#include "stoker/base/log.h"
#include "stoker/cache/build/cache_lock.h"
#include "stoker/cache/errors.h"
#include "stoker/train/checkpoint/checkpoint_folder.h"
#include "stoker/train/errors.h"

namespace stoker::train {
namespace {

// A new name lasts only once the folder that holds it is synced.
Result<void> sync_folder(Io& io, const std::string& path) {
  Result<File> folder = open_file(io, path.empty() ? "." : path, OpenFor::kFolder);
  if (!folder) return std::move(folder).error();
  return folder->sync();
}

// Makes the folder and its parents, to last.
Result<void> make_lasting_folder(Io& io, const std::string& path) {
  std::filesystem::path at = std::filesystem::path(path).lexically_normal();
  std::vector<std::filesystem::path> holders;
  while (!at.empty()) {
    Result<std::optional<FileInfo>> info = info_if_present(io, AT_FDCWD, at.string());
    if (!info) return std::move(info).error();
    if (*info) break;
    at = at.parent_path();
    holders.push_back(at);
  }
  if (Result<void> made = make_folders(io, path); !made) return made;
  for (const std::filesystem::path& holder : holders)
    if (Result<void> synced = sync_folder(io, holder.string()); !synced) return synced;
  return {};
}

Result<cache::CacheLock> take_lock(const File& run) {
  Result<cache::CacheLock> lock =
      cache::CacheLock::take(run, {.when_locked = cache::WhenLocked::kRefuse});
  if (lock) return lock;
  Error error = std::move(lock).error();
  if (error.code != &cache::kLockHeld && error.code != &cache::kLockBroken) return error;
  if (error.code == &cache::kLockBroken)
    error.cure = "name a folder on a file system that has locks with --checkpoint-dir";
  error.code = &kTrainLocked;
  error.promised = "no other trainer";
  return error;
}

Result<void> rename_in(const File& folder, const std::string& from, const std::string& to) {
  const SysResult renamed = folder.io().rename_at(folder.handle(), from, to);
  if (renamed.ok()) return {};
  return io_error("rename into place", folder.path() + "/" + to, renamed.error_number);
}

// Nothing is judged while its storage reports errors.
Result<bool> is_whole(const File& checkpoints, const std::string& name) {
  Result<File> folder = open_beneath(checkpoints, name, OpenFor::kFolder);
  const Result<void> verified = folder ? verify_checkpoint(*folder) : Result<void>(folder.error());
  if (verified) return true;
  const Error& error = verified.error();
  if (error.code == &kIoFailed || !says_damage(error)) return error;
  return false;
}

// A replacement was interrupted: the new one stays, unless it is absent or the old one alone is
// whole.
Result<void> settle_replacement(const File& checkpoints, const std::string& old) {
  const std::string name = old.substr(0, old.size() - kOldSuffix.size());
  Result<bool> new_is_whole = is_whole(checkpoints, name);
  if (!new_is_whole) return std::move(new_is_whole).error();
  if (*new_is_whole) return remove_checkpoint(checkpoints, old);
  Result<std::optional<FileInfo>> info =
      info_if_present(checkpoints.io(), checkpoints.handle(), name);
  if (!info) return std::move(info).error();
  if (*info) {
    Result<bool> old_is_whole = is_whole(checkpoints, old);
    if (!old_is_whole) return std::move(old_is_whole).error();
    const std::string& damaged = *old_is_whole ? name : old;
    if (Result<void> removed = remove_checkpoint(checkpoints, damaged); !removed) return removed;
    if (!*old_is_whole) return {};
  }
  if (Result<void> renamed = rename_in(checkpoints, old, name); !renamed) return renamed;
  return checkpoints.sync();
}

// What an interrupted save left. Only for the holder of the lock.
Result<void> tidy(const File& checkpoints) {
  Result<std::vector<FolderEntry>> entries = list_folder(checkpoints);
  if (!entries) return std::move(entries).error();
  for (const FolderEntry& entry : *entries) {
    if (entry.kind != FileKind::kFolder) continue;
    const std::optional<CheckpointEntry> parsed = parse_checkpoint_name(entry.name);
    Result<void> done;
    if (is_temp_name(entry.name)) done = remove_checkpoint(checkpoints, entry.name);
    if (parsed && parsed->is_old) done = settle_replacement(checkpoints, entry.name);
    if (!done) return done;
  }
  return {};
}

// There is no instant without a whole checkpoint of this step, if there was one: readers know the
// old one's second name.
Result<void> put_in_place(const File& checkpoints, const std::string& temp,
                          const std::string& name) {
  Io& io = checkpoints.io();
  const std::string old = name + std::string(kOldSuffix);
  Result<std::optional<FileInfo>> present = info_if_present(io, checkpoints.handle(), name);
  if (!present) return std::move(present).error();
  if (*present) {
    Result<std::optional<FileInfo>> left = info_if_present(io, checkpoints.handle(), old);
    if (!left) return std::move(left).error();
    if (*left) return io_error("replace", checkpoints.path() + "/" + old, EEXIST);
    if (Result<void> moved = rename_in(checkpoints, name, old); !moved) return moved;
  }
  if (Result<void> renamed = rename_in(checkpoints, temp, name); !renamed) {
    // Where this fails too, readers take the old name and the next save settles it.
    if (*present) io.rename_at(checkpoints.handle(), old, name);
    return renamed;
  }
  return checkpoints.sync();
}

// The checkpoints whose state can be read; nobody judges the others.
Result<std::vector<CheckpointMark>> read_marks(const File& checkpoints) {
  Result<std::vector<CheckpointEntry>> entries = list_checkpoints(checkpoints);
  if (!entries) return std::move(entries).error();
  std::vector<CheckpointMark> marks;
  for (const CheckpointEntry& entry : *entries) {
    if (entry.is_old) continue;
    Result<File> folder = open_beneath(checkpoints, entry.name, OpenFor::kFolder);
    if (!folder) continue;
    Result<CheckpointState> state = read_state(*folder);
    if (state && state->step == entry.step)
      marks.push_back({entry.step, state->figure, state->is_evaluated});
  }
  return marks;
}

Result<void> prune(const File& checkpoints, std::uint64_t saved, const KeepRule& rule) {
  Result<std::vector<CheckpointMark>> marks = read_marks(checkpoints);
  if (!marks) return std::move(marks).error();
  const std::set<std::uint64_t> kept = steps_to_keep(*marks, saved, rule);
  for (const CheckpointMark& mark : *marks) {
    if (kept.contains(mark.step)) continue;
    Result<void> removed = remove_checkpoint(checkpoints, checkpoint_name(mark.step));
    if (!removed) return removed;
  }
  return {};
}

constexpr std::string_view kLeftOvers =
    "left-overs of a save could not be removed; the next one tries again";

void warn_unless(const Result<void>& done, std::string_view what) {
  if (!done) log(LogLevel::kWarning, what, {{"error", error_line(done.error())}});
}

}  // namespace

std::set<std::uint64_t> steps_to_keep(const std::vector<CheckpointMark>& marks, std::uint64_t saved,
                                      const KeepRule& rule) {
  std::vector<CheckpointMark> newest_first = marks;
  std::ranges::sort(newest_first, std::greater(), &CheckpointMark::step);
  std::set<std::uint64_t> kept{saved};
  for (std::size_t i = 0; i < std::min<std::uint64_t>(rule.num_last, newest_first.size()); ++i)
    kept.insert(newest_first[i].step);
  const bool any_evaluated =
      std::ranges::any_of(marks, [](const CheckpointMark& mark) { return mark.is_evaluated; });
  const CheckpointMark* best = nullptr;
  for (const CheckpointMark& mark : newest_first) {
    if (mark.is_evaluated != any_evaluated || !std::isfinite(mark.figure)) continue;
    if (best == nullptr || mark.figure < best->figure) best = &mark;
  }
  if (best != nullptr) kept.insert(best->step);
  return kept;
}

struct RunFolder::State {
  std::string path;
  cache::CacheLock lock;
  File checkpoints;
};

RunFolder::RunFolder(std::unique_ptr<State> state) : state_(std::move(state)) {}
RunFolder::RunFolder(RunFolder&&) noexcept = default;
RunFolder& RunFolder::operator=(RunFolder&&) noexcept = default;
RunFolder::~RunFolder() = default;

Result<RunFolder> RunFolder::open(Io& io, const std::string& path) {
  if (Result<void> made = make_lasting_folder(io, path); !made) return made.error();
  Result<File> run = open_file(io, path, OpenFor::kFolder);
  if (!run) return std::move(run).error();
  Result<cache::CacheLock> lock = take_lock(*run);
  if (!lock) return std::move(lock).error();
  const std::string inside = path + "/" + std::string(kCheckpointsName);
  if (Result<void> made = make_lasting_folder(io, inside); !made) return made.error();
  // It may have been made by a process that was killed before it could sync.
  if (Result<void> synced = run->sync(); !synced) return synced.error();
  Result<File> checkpoints = open_file(io, inside, OpenFor::kFolder);
  if (!checkpoints) return std::move(checkpoints).error();
  if (Result<void> done = tidy(*checkpoints); !done) return done.error();
  return RunFolder(std::make_unique<State>(
      State{path, std::move(lock).value(), std::move(checkpoints).value()}));
}

const std::string& RunFolder::path() const { return state_->path; }

Result<std::vector<std::uint64_t>> RunFolder::steps() const {
  Result<std::vector<CheckpointEntry>> entries = list_checkpoints(state_->checkpoints);
  if (!entries) return std::move(entries).error();
  std::set<std::uint64_t> steps;
  for (const CheckpointEntry& entry : *entries) steps.insert(entry.step);
  return std::vector(steps.begin(), steps.end());
}

Result<void> RunFolder::save(const Checkpoint& checkpoint, const KeepRule& keep) {
  const File& checkpoints = state_->checkpoints;
  // An earlier save may have failed so that even its litter could not be removed.
  warn_unless(tidy(checkpoints), kLeftOvers);
  const std::string name = checkpoint_name(checkpoint.step);
  const std::string temp = temp_name_for(name);
  Result<void> written = write_checkpoint(checkpoints, temp, checkpoint);
  if (written) written = put_in_place(checkpoints, temp, name);
  if (!written) {
    warn_unless(remove_checkpoint(checkpoints, temp), kLeftOvers);
    return written;
  }
  warn_unless(tidy(checkpoints), "the checkpoint that was replaced could not be removed");
  warn_unless(prune(checkpoints, checkpoint.step, keep),
              "checkpoints that are not kept could not be removed");
  return {};
}

}  // namespace stoker::train
