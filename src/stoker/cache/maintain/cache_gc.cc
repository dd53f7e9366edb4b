#include "stoker/cache/maintain/cache_gc.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "stoker/base/io/paths.h"
#include "stoker/cache/build/cache_lock.h"
#include "stoker/cache/build/source_hints.h"
#include "stoker/cache/format/manifest.h"
#include "stoker/cache/maintain/verify.h"
#include "stoker/cache/read/cache_location.h"

namespace stoker::cache {
namespace {

bool is_ours(std::string_view name) {
  constexpr std::array<std::string_view, 6> kNames{"manifest.json", "sources.bin", "config.yaml",
                                                   "rejects.jsonl", "lock",        kVerifyListName};
  return shard_number_of(name) || is_temp_name(name) ||
         std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

std::vector<FolderEntry> entries_of(const File& folder) {
  return list_folder(folder).take_or_raise();
}

std::uint64_t size_of(const File& folder, const std::string& name) {
  FileInfo info;
  return folder.io().info_at(folder.handle(), name, info).ok() ? info.size_bytes : 0;
}

std::optional<UnusedItem> unused_cache(const File& folder, std::string why) {
  UnusedItem item{folder.path(), std::move(why), 0, true};
  bool has_ours = false;
  for (const FolderEntry& entry : entries_of(folder)) {
    if (!is_ours(entry.name)) continue;
    has_ours = true;
    item.size_bytes += size_of(folder, entry.name);
  }
  if (!has_ours) return std::nullopt;
  return item;
}

// Whether the cache is of a list file that is no longer beside it.
bool is_of_lost_list(const File& all, const File& folder) {
  Result<Manifest> manifest = load_manifest(folder);
  if (!manifest) return false;
  for (const Setting& setting : manifest->settings) {
    if (setting.group != "data" || setting.name != "list") continue;
    const std::string name = setting.value.substr(0, setting.value.find(", "));
    if (name.find_first_of("= ") != std::string::npos) return false;  // a part, or a mixture
    FileInfo info;
    return all.io().info_at(all.handle(), "../" + name, info).error_number == ENOENT;
  }
  return false;
}

void add_litter(const File& folder, std::vector<UnusedItem>& items) {
  Result<Manifest> manifest = load_manifest(folder);
  for (const FolderEntry& entry : entries_of(folder)) {
    const std::string path = folder.path() + "/" + entry.name;
    const auto number = shard_number_of(entry.name);
    if (is_temp_name(entry.name))
      items.push_back(
          {path, "left by a builder that was killed", size_of(folder, entry.name), false});
    else if (number && manifest.ok() && manifest->find_shard(*number) == nullptr)
      items.push_back({path, "named by no manifest", size_of(folder, entry.name), false});
  }
}

void remove_file(const File& folder, const std::string& name) {
  const SysResult removed = folder.io().unlink_at(folder.handle(), name, false);
  if (!removed.ok() && removed.error_number != ENOENT)
    raise(io_error("remove", folder.path() + "/" + name, removed.error_number));
}

void remove_cache(Io& io, const std::string& path) {
  const File folder = open_file(io, path, OpenFor::kFolder).take_or_raise();
  {
    const CacheLock lock =
        CacheLock::take(folder, {.when_locked = WhenLocked::kRefuse}).take_or_raise();
    // The manifest first: without it nothing else is read.
    remove_file(folder, std::string(kManifestName));
    for (const FolderEntry& entry : entries_of(folder))
      if (is_ours(entry.name)) remove_file(folder, entry.name);
  }
  if (entries_of(folder).empty()) io.unlink_at(AT_FDCWD, path, true);
}

}  // namespace

std::vector<UnusedItem> find_unused(Io& io, const std::string& caches,
                                    const std::set<std::string>& used) {
  std::vector<UnusedItem> items;
  Result<File> all = open_file(io, caches, OpenFor::kFolder);
  if (!all) return items;
  for (const FolderEntry& entry : entries_of(*all)) {
    if (entry.kind != FileKind::kFolder) continue;
    const std::string path = caches + "/" + entry.name;
    Result<File> folder = open_file(io, path, OpenFor::kFolder);
    if (!folder) continue;
    const bool is_used = std::any_of(used.begin(), used.end(), [&](const std::string& other) {
      return path == other || has_same_features(path, other);
    });
    const bool is_lost = is_used && !used.contains(path) && is_of_lost_list(*all, *folder);
    if (is_used && !is_lost) {
      add_litter(*folder, items);
      continue;
    }
    if (auto item = unused_cache(
            *folder, is_lost ? "its list of utterances is gone" : "made with other settings"))
      items.push_back(*item);
  }
  return items;
}

void remove_unused(Io& io, const UnusedItem& item) {
  if (item.is_cache) return remove_cache(io, item.path);
  const std::size_t slash = item.path.rfind('/');
  const File folder = open_file(io, item.path.substr(0, slash), OpenFor::kFolder).take_or_raise();
  const CacheLock lock =
      CacheLock::take(folder, {.when_locked = WhenLocked::kRefuse}).take_or_raise();
  remove_file(folder, item.path.substr(slash + 1));
}

}  // namespace stoker::cache
