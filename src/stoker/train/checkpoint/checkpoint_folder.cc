#include "stoker/train/checkpoint/checkpoint_folder.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <tuple>

#include "stoker/base/bytes.h"
#include "stoker/base/errors.h"
#include "stoker/base/io/paths.h"
#include "stoker/train/errors.h"

namespace stoker::train {
namespace {

constexpr std::string_view kPrefix = "step-";

Error changed_file(const File& file, const FileSeal& promised, const FileSeal& found) {
  return {.code = &kCheckpointBad,
          .place = {.file = file.path()},
          .promised = fmt::format("{} bytes of digest {}", promised.size_bytes, promised.xxh3),
          .found = fmt::format("{} bytes of digest {}", found.size_bytes, found.xxh3)};
}

Result<void> compare(const File& folder, std::string_view name, const FileSeal& promised) {
  Result<File> file = open_beneath(folder, std::string(name), OpenFor::kRead);
  if (!file) return std::move(file).error();
  Result<FileSeal> found = seal_of(*file);
  if (!found) return std::move(found).error();
  if (*found != promised) return changed_file(*file, promised, *found);
  return {};
}

Result<FileSeal> write_one(const File& folder, std::string_view name, const TensorSet& set) {
  Result<File> file = open_beneath(folder, std::string(name), OpenFor::kCreateNew);
  if (!file) return std::move(file).error();
  Result<FileSeal> seal = write_tensors(*file, set);
  if (!seal) return seal;
  if (Result<void> done = file->sync(); !done) return done.error();
  if (Result<void> done = file->close(); !done) return done.error();
  if (Result<void> done = compare(folder, name, *seal); !done) return done.error();
  return seal;
}

Result<void> write_state(const File& folder, const CheckpointState& state) {
  const std::string text = render_state(state);
  Result<File> file = open_beneath(folder, std::string(kStateName), OpenFor::kCreateNew);
  if (!file) return std::move(file).error();
  if (Result<void> done = file->write_at(view_bytes(text), 0); !done) return done;
  if (Result<void> done = file->sync(); !done) return done;
  if (Result<void> done = file->close(); !done) return done;
  Result<CheckpointState> again = read_state(folder);
  if (!again) return std::move(again).error();
  return {};
}

// The file's tensors, where they are those that were sealed.
Result<TensorSet> read_sealed(const File& folder, std::string_view name, const FileSeal& promised) {
  Result<File> file = open_beneath(folder, std::string(name), OpenFor::kRead);
  if (!file) return std::move(file).error();
  Result<FileInfo> info = file->info();
  if (!info) return std::move(info).error();
  // Before anything is read: a file that was cut says so best by its size.
  if (info->kind == FileKind::kRegular && info->size_bytes != promised.size_bytes)
    return Error{.code = &kCheckpointBad,
                 .place = {.file = file->path()},
                 .promised = fmt::format("{} bytes", promised.size_bytes),
                 .found = fmt::format("{} bytes", info->size_bytes)};
  Result<SealedTensors> read = read_tensors(*file);
  if (!read) return std::move(read).error();
  if (read->seal != promised) return changed_file(*file, promised, read->seal);
  return std::move(read->tensors);
}

// What is gone already is fine.
Result<void> remove_content(const File& parent, const std::string& name, int levels_left) {
  Result<File> folder = open_beneath(parent, name, OpenFor::kFolder);
  if (!folder && folder.error().code == &kIoMissing) return {};
  if (!folder) return std::move(folder).error();
  Result<std::vector<FolderEntry>> entries = list_folder(*folder);
  if (!entries) return std::move(entries).error();
  for (const FolderEntry& entry : *entries) {
    const bool is_folder = entry.kind == FileKind::kFolder;
    if (is_folder && levels_left > 0) {
      Result<void> emptied = remove_content(*folder, entry.name, levels_left - 1);
      if (!emptied) return emptied;
    }
    const SysResult removed = parent.io().unlink_at(folder->handle(), entry.name, is_folder);
    if (!removed.ok() && removed.error_number != ENOENT)
      return io_error("remove", folder->path() + "/" + entry.name, removed.error_number);
  }
  return {};
}

}  // namespace

std::string checkpoint_name(std::uint64_t step) { return fmt::format("{}{:08}", kPrefix, step); }

std::optional<CheckpointEntry> parse_checkpoint_name(std::string_view name) {
  CheckpointEntry entry{.name = std::string(name)};
  entry.is_old = name.ends_with(kOldSuffix);
  if (entry.is_old) name.remove_suffix(kOldSuffix.size());
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const std::string_view digits = name.substr(kPrefix.size());
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), entry.step);
  if (read.ec != std::errc() || checkpoint_name(entry.step) != name) return std::nullopt;
  return entry;
}

Result<std::vector<CheckpointEntry>> list_checkpoints(const File& checkpoints) {
  Result<std::vector<FolderEntry>> entries = list_folder(checkpoints);
  if (!entries) return std::move(entries).error();
  std::vector<CheckpointEntry> found;
  for (const FolderEntry& entry : *entries) {
    const bool may_hold_files = entry.kind == FileKind::kFolder || entry.kind == FileKind::kLink;
    std::optional<CheckpointEntry> parsed = parse_checkpoint_name(entry.name);
    if (parsed && may_hold_files) found.push_back(std::move(*parsed));
  }
  std::ranges::sort(found, [](const CheckpointEntry& a, const CheckpointEntry& b) {
    return std::tuple(b.step, a.is_old) < std::tuple(a.step, b.is_old);
  });
  return found;
}

Result<void> write_checkpoint(const File& checkpoints, const std::string& name,
                              const Checkpoint& checkpoint) {
  constexpr unsigned kFolderMode = 0755;
  const SysResult made = checkpoints.io().make_folder_at(checkpoints.handle(), name, kFolderMode);
  if (!made.ok())
    return io_error("create the folder", checkpoints.path() + "/" + name, made.error_number);
  Result<File> folder = open_beneath(checkpoints, name, OpenFor::kFolder);
  if (!folder) return std::move(folder).error();
  CheckpointState state{.step = checkpoint.step,
                        .figure = checkpoint.figure,
                        .is_evaluated = checkpoint.is_evaluated,
                        .files = {},
                        .state = checkpoint.state};
  const std::array<const TensorSet*, kTensorNames.size()> sets{&checkpoint.model, &checkpoint.ema,
                                                               &checkpoint.optimizer};
  for (std::size_t i = 0; i < sets.size(); ++i) {
    Result<FileSeal> seal = write_one(*folder, kTensorNames[i], *sets[i]);
    if (!seal) return std::move(seal).error();
    state.files.emplace(kTensorNames[i], *seal);
  }
  // Last, so that a folder with a state is a whole one.
  if (Result<void> done = write_state(*folder, state); !done) return done;
  return folder->sync();
}

Result<CheckpointState> read_state(const File& folder) {
  Result<File> file = open_beneath(folder, std::string(kStateName), OpenFor::kRead);
  if (!file) return std::move(file).error();
  Result<std::vector<std::byte>> bytes = read_whole(*file, kMaxStateBytes);
  if (!bytes) return std::move(bytes).error();
  return parse_state(view_text(*bytes), file->path());
}

Result<Checkpoint> read_checkpoint(const File& folder, CheckpointParts parts) {
  Result<CheckpointState> state = read_state(folder);
  if (!state) return std::move(state).error();
  Checkpoint out;
  out.step = state->step;
  out.figure = state->figure;
  out.is_evaluated = state->is_evaluated;
  out.state = std::move(state->state);
  const std::array<TensorSet*, kTensorNames.size()> sets{&out.model, &out.ema, &out.optimizer};
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (parts == CheckpointParts::kAverages && kTensorNames[i] != kEmaName) continue;
    const std::string_view name = kTensorNames[i];
    Result<TensorSet> set = read_sealed(folder, name, state->files.find(name)->second);
    if (!set) return std::move(set).error();
    *sets[i] = std::move(set).value();
  }
  return out;
}

Result<void> verify_checkpoint(const File& folder) {
  Result<CheckpointState> state = read_state(folder);
  if (!state) return std::move(state).error();
  for (const auto& [name, seal] : state->files)
    if (Result<void> done = compare(folder, name, seal); !done) return done;
  return {};
}

bool says_damage(const Error& error) {
  const std::array damage{&kCheckpointBad, &kIoMissing, &kIoKind, &kIoTooBig, &kIoFailed};
  return std::ranges::find(damage, error.code) != damage.end();
}

Result<void> remove_checkpoint(const File& checkpoints, const std::string& name) {
  constexpr int kMostLevels = 8;
  Io& io = checkpoints.io();
  std::string temp = name;
  if (!is_temp_name(name)) {
    temp = temp_name_for(name);
    const SysResult renamed = io.rename_at(checkpoints.handle(), name, temp);
    if (!renamed.ok())
      return io_error("set aside", checkpoints.path() + "/" + name, renamed.error_number);
    // Else a power cut might take the new name back and not what was removed under it.
    if (Result<void> done = checkpoints.sync(); !done) return done;
  }
  if (Result<void> done = remove_content(checkpoints, temp, kMostLevels); !done) return done;
  const SysResult removed = io.unlink_at(checkpoints.handle(), temp, /*is_folder=*/true);
  if (removed.ok() || removed.error_number == ENOENT) return {};
  return io_error("remove", checkpoints.path() + "/" + temp, removed.error_number);
}

}  // namespace stoker::train
