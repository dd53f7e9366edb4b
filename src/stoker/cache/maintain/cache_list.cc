#include "stoker/cache/maintain/cache_list.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "stoker/base/io/paths.h"
#include "stoker/cache/build/cache_target.h"
#include "stoker/cache/format/manifest.h"
#include "stoker/cache/read/cache_location.h"
#include "stoker/config/field_table.h"
#include "stoker/config/load.h"

namespace stoker::cache {
namespace {

config::Settings without_cache_dir(config::Settings settings) {
  settings.cache.dir.clear();
  return settings;
}

// The settings that the cache's builder kept beside it; nothing where they are not there or of
// another version.
std::optional<config::Settings> kept_settings(const std::string& folder) {
  try {
    return config::load_settings({.file = folder + "/config.yaml"}).settings;
  } catch (const Failure&) {
    return std::nullopt;
  }
}

std::vector<SettingDifference> differences_by_setting(const config::Settings& have,
                                                      const config::Settings& want) {
  std::vector<SettingDifference> differences;
  for (const config::FieldInfo& field : config::all_fields()) {
    const bool is_text = field.affects == config::Affects::kText;
    if (!is_text && field.affects != config::Affects::kFeatures) continue;
    const std::string had = field.json(have);
    const std::string has = field.json(want);
    if (had != has) differences.push_back({is_text ? "text" : "features", field.path, had, has});
  }
  return differences;
}

std::vector<SettingDifference> differences_of(const std::string& folder, const Manifest& have,
                                              const config::Settings& settings,
                                              const Manifest& want) {
  if (have.features == want.features && have.text == want.text) return {};
  if (const std::optional<config::Settings> kept = kept_settings(folder)) {
    std::vector<SettingDifference> differences = differences_by_setting(*kept, settings);
    if (!differences.empty()) return differences;
  }
  std::vector<SettingDifference> differences = compare_settings(have, want);
  // The head is made without the data set, which may record the language that is auto here.
  const bool is_auto = settings.text.language.is_auto();
  std::erase_if(differences, [is_auto](const SettingDifference& each) {
    return each.group == "data" || (is_auto && each.name == "text.language");
  });
  return differences;
}

std::uint64_t size_of_files(const File& folder) {
  std::uint64_t size_bytes = 0;
  const Result<std::vector<FolderEntry>> entries = list_folder(folder);
  if (!entries) return 0;
  for (const FolderEntry& entry : *entries) {
    FileInfo info;
    const SysResult found = folder.io().info_at(folder.handle(), entry.name, info);
    if (found.ok() && info.kind == FileKind::kRegular) size_bytes += info.size_bytes;
  }
  return size_bytes;
}

// What is the same for every cache of one listing.
struct Wanted {
  const config::Settings& settings;
  Manifest head;
  std::set<std::string> used;
};

std::optional<ListedCache> look_at(Io& io, const std::string& path, const Wanted& wanted) {
  const Result<File> folder = open_file(io, path, OpenFor::kFolder);
  if (!folder) return std::nullopt;
  const Result<Manifest> manifest = load_manifest(*folder);
  if (!manifest) return std::nullopt;
  ListedCache found;
  found.folder = path;
  found.size_bytes = size_of_files(*folder);
  for (const Setting& setting : manifest->settings)
    if (setting.group == "data" && setting.name == "list") found.list = setting.value;
  if (wanted.used.contains(path))
    found.use = CacheUse::kUsed;
  else if (manifest->features == wanted.head.features)
    found.use = CacheUse::kOtherList;
  found.differences = differences_of(path, *manifest, wanted.settings, wanted.head);
  for (const ShardLine& line : manifest->shards) found.num_records += line.num_records;
  FileInfo info;
  if (io.info_at(folder->handle(), std::string(kManifestName), info).ok())
    found.changed_unix_ns = info.mtime_ns;
  return found;
}

void add_subfolders(Io& io, const std::string& path, std::set<std::string>& folders) {
  const Result<File> all = open_file(io, path, OpenFor::kFolder);
  if (!all) return;
  const Result<std::vector<FolderEntry>> entries = list_folder(*all);
  if (!entries) return;
  for (const FolderEntry& entry : *entries)
    if (entry.kind == FileKind::kFolder) folders.insert(path + "/" + entry.name);
}

}  // namespace

std::string_view use_name(CacheUse use) {
  switch (use) {
    case CacheUse::kUsed:
      return "used";
    case CacheUse::kOtherList:
      return "other list";
    case CacheUse::kOtherSettings:
      break;
  }
  return "other settings";
}

std::set<std::string> used_folders(Io& io, const config::Settings& settings) {
  const Manifest head = wanted_head(settings, SimdLevel::kScalar);
  return {find_cache_location(settings, head.features, io).folder,
          find_cache_location(without_cache_dir(settings), head.features, io).folder};
}

std::vector<ListedCache> list_caches(Io& io, const config::Settings& settings) {
  const Wanted wanted{settings, wanted_head(settings, SimdLevel::kScalar),
                      used_folders(io, settings)};
  std::set<std::string> folders = wanted.used;
  const std::string usual =
      find_cache_location(without_cache_dir(settings), wanted.head.features, io).folder;
  add_subfolders(io, caches_of_data(settings, io), folders);
  add_subfolders(io, std::filesystem::path(usual).parent_path().string(), folders);
  std::vector<ListedCache> found;
  for (const std::string& folder : folders)
    if (std::optional<ListedCache> each = look_at(io, folder, wanted))
      found.push_back(std::move(*each));
  std::stable_sort(found.begin(), found.end(),
                   [](const ListedCache& a, const ListedCache& b) { return a.use < b.use; });
  return found;
}

}  // namespace stoker::cache
