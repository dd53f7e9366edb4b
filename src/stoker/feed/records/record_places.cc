#include "stoker/feed/records/record_places.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "stoker/base/io/paths.h"
#include "stoker/feed/errors.h"

namespace stoker::feed {
namespace {

// "4711.ring", or "4711-2.ring" of a second feed.
std::optional<int> pid_of_name(std::string_view name) {
  if (!name.ends_with(kRingEnding)) return std::nullopt;
  int pid = 0;
  const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), pid);
  const bool is_pid = fault == std::errc() && pid > 0 && (*end == '.' || *end == '-');
  return is_pid ? std::optional(pid) : std::nullopt;
}

std::vector<std::string> names_in(Io& io, const std::string& folder) {
  std::vector<FolderEntry> entries;
  const Result<File> opened = open_file(io, folder, OpenFor::kFolder);
  if (opened) io.list(opened->handle(), entries);
  std::vector<std::string> names;
  names.reserve(entries.size());
  for (FolderEntry& entry : entries) names.push_back(std::move(entry.name));
  std::sort(names.begin(), names.end());
  return names;
}

bool is_own_folder(Io& io, const std::string& path) {
  constexpr unsigned kOthers = 077;
  FileInfo info;
  return io.info_at(AT_FDCWD, path, info).ok() && info.kind == FileKind::kFolder &&
         info.owner == ::geteuid() && (info.mode & kOthers) == 0;
}

// Rings in run folders.
std::set<std::string> open_rings(Io& io, int pid) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/fd";
  const std::filesystem::path place(folder);
  std::set<std::string> rings;
  for (const std::string& name : names_in(io, folder)) {
    std::error_code fault;
    std::string target = std::filesystem::read_symlink(place / name, fault).string();
    if (!fault && target.ends_with("/" + std::string(kRunRecordsName)))
      rings.insert(std::move(target));
  }
  return rings;
}

}  // namespace

std::string common_record_folder() {
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime == '/') return std::string(runtime) + "/stoker";
  return "/tmp/stoker-" + std::to_string(::geteuid());
}

std::vector<ProcessRing> common_rings(Io& io) {
  const std::string folder = common_record_folder();
  if (!is_own_folder(io, folder)) return {};
  std::vector<ProcessRing> rings;
  for (const std::string& name : names_in(io, folder))
    if (const std::optional<int> pid = pid_of_name(name))
      rings.push_back({*pid, std::string(folder).append("/").append(name)});
  return rings;
}

std::vector<std::string> rings_of_process(int pid, Io& io) {
  std::vector<std::string> paths;
  for (ProcessRing& ring : common_rings(io))
    if (ring.pid == pid) paths.push_back(std::move(ring.path));
  const std::set<std::string> open = open_rings(io, pid);
  paths.insert(paths.end(), open.begin(), open.end());
  return paths;
}

Result<std::string> find_process_records(int pid, Io& io) {
  const std::vector<std::string> rings = rings_of_process(pid, io);
  if (!rings.empty()) return rings.front();
  const std::string number = std::to_string(pid);
  FileInfo info;
  const bool runs = io.info_at(AT_FDCWD, "/proc/" + number, info).ok();
  std::string others;
  for (const ProcessRing& ring : common_rings(io))
    others += (others.empty() ? "" : ", ") + std::to_string(ring.pid);
  return Error{.code = &kRecordsProcess,
               .place = {.file = common_record_folder()},
               .promised = number + std::string(kRingEnding) + " of a process that runs a feed",
               .found = runs ? "process " + number + " without records" : "no process " + number,
               .cure = others.empty() ? std::string() : "processes with records: " + others};
}

std::string run_records(const std::string& run_folder) {
  return run_folder + "/" + std::string(kRunRecordsName);
}

Result<std::string> records_at(const std::string& path, Io& io) {
  FileInfo info;
  const bool is_folder = io.info_at(AT_FDCWD, path, info).ok() && info.kind == FileKind::kFolder;
  if (!is_folder) return path;
  const Result<std::optional<FileInfo>> ring = info_if_present(io, AT_FDCWD, run_records(path));
  if (!ring) return ring.error();
  if (*ring) return run_records(path);
  return Error{.code = &kRecordsNone,
               .place = {.file = path},
               .promised = std::string(kRunRecordsName),
               .found = "a folder without it"};
}

}  // namespace stoker::feed
