// Finds the checkpoint to go on from: the newest one that is whole, whatever happened to others.
#include <fcntl.h>
#include <fmt/format.h>

#include <filesystem>

#include "stoker/base/errors.h"
#include "stoker/base/io/paths.h"
#include "stoker/train/checkpoint/checkpoint_folder.h"
#include "stoker/train/errors.h"

namespace stoker::train {
namespace {

Error none_whole(const std::string& path, std::string found) {
  return {.code = &kCheckpointMissing,
          .place = {.file = path},
          .promised = "a whole checkpoint",
          .found = std::move(found)};
}

Result<FoundCheckpoint> load_one(Io& io, const std::string& path, CheckpointParts parts) {
  Result<File> folder = open_file(io, path, OpenFor::kFolder);
  if (!folder) return std::move(folder).error();
  Result<Checkpoint> checkpoint = read_checkpoint(*folder, parts);
  if (!checkpoint) return std::move(checkpoint).error();
  return FoundCheckpoint{std::move(checkpoint).value(), path, {}};
}

Result<FoundCheckpoint> load_entry(Io& io, const std::string& path, const CheckpointEntry& entry,
                                   CheckpointParts parts) {
  Result<FoundCheckpoint> found = load_one(io, path, parts);
  if (!found || found->checkpoint.step == entry.step) return found;
  return Error{.code = &kCheckpointBad,
               .place = {.file = path},
               .promised = fmt::format("step {}", entry.step),
               .found = fmt::format("step {}", found->checkpoint.step)};
}

struct Search {
  Result<FoundCheckpoint> result;
  bool saw_one_vanish = false;
};

Search search_newest(Io& io, const std::string& path, CheckpointParts parts) {
  Result<File> folder = open_file(io, path, OpenFor::kFolder);
  if (!folder) return {std::move(folder).error()};
  Result<std::vector<CheckpointEntry>> entries = list_checkpoints(*folder);
  if (!entries) return {std::move(entries).error()};
  std::vector<std::string> passed_over;
  bool saw_one_vanish = false;
  for (const CheckpointEntry& entry : *entries) {
    Result<FoundCheckpoint> found = load_entry(io, path + "/" + entry.name, entry, parts);
    if (found) {
      found->passed_over = std::move(passed_over);
      return {std::move(found)};
    }
    if (!says_damage(found.error())) return {std::move(found)};
    saw_one_vanish = saw_one_vanish || found.error().code == &kIoMissing;
    passed_over.push_back(error_line(found.error()));
  }
  if (passed_over.empty()) return {none_whole(path, "none")};
  return {none_whole(path, fmt::format("{}, none of them whole; the newest: {}", passed_over.size(),
                                       passed_over.front())),
          saw_one_vanish};
}

// The folder of checkpoints that `path` names, or nothing where it is one step's.
Result<std::optional<std::string>> holder_of(Io& io, const std::string& path) {
  Result<std::optional<FileInfo>> state =
      info_if_present(io, AT_FDCWD, path + "/" + std::string(kStateName));
  if (!state) return std::move(state).error();
  const std::string name = std::filesystem::path(path).filename().string();
  if (*state || parse_checkpoint_name(name)) return std::optional<std::string>();
  const std::string inside = path + "/" + std::string(kCheckpointsName);
  Result<std::optional<FileInfo>> info = info_if_present(io, AT_FDCWD, inside);
  if (!info) return std::move(info).error();
  return std::optional(*info ? inside : path);
}

}  // namespace

Result<FoundCheckpoint> load_checkpoint(Io& io, const std::string& path, CheckpointParts parts) {
  std::string plain = path;
  while (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
  Result<File> folder = open_file(io, plain, OpenFor::kFolder);
  if (!folder && folder.error().code == &kIoMissing) return none_whole(path, folder.error().found);
  if (!folder) return std::move(folder).error();
  Result<std::optional<std::string>> holder = holder_of(io, plain);
  if (!holder) return std::move(holder).error();
  if (!*holder) return load_one(io, plain, parts);
  // A trainer at work may replace or remove the one that is being read; its newer one is found when
  // looking again.
  constexpr int kMostTries = 3;
  for (int tries = 1;; ++tries) {
    Search search = search_newest(io, **holder, parts);
    if (search.result || !search.saw_one_vanish || tries == kMostTries)
      return std::move(search.result);
  }
}

}  // namespace stoker::train
