#include "stoker/cache/place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "stoker/base/real_path.h"
#include "stoker/cache/errors.h"
#include "stoker/cache/manifest.h"

namespace stoker::cache {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// The data set's folder: of a metadata file, the one it lies in.
fs::path data_folder(const config::Settings& settings) {
  const std::string& path =
      settings.data.sources.empty() ? settings.data.path : settings.data.sources.front().data;
  std::error_code ignored;
  const fs::path real = real_path(path);
  return fs::is_directory(real, ignored) ? real : real.parent_path();
}

bool holds_cache(const fs::path& folder, Io& io) {
  FileInfo info;
  return io.info_at(AT_FDCWD, (folder / kManifestName).string(), info).ok();
}

// Whether the folder, or the nearest parent that is there, can be written by this user.
bool can_be_written(const fs::path& folder) {
  return access(nearest_existing(folder).c_str(), W_OK) == 0;
}

[[noreturn]] void refuse(const std::string& folder, std::string found) {
  Error error;
  error.code = &kCachePlace;
  error.place.file = folder;
  error.promised = "a folder of its own for the cache";
  error.found = std::move(found);
  raise(std::move(error));
}

CachePlace explicit_place(const config::Settings& settings) {
  std::error_code ignored;
  const fs::path folder = real_path(settings.cache.dir);
  if (folder == folder.root_path()) refuse(folder.string(), "the root of the file system");
  if (folder == data_folder(settings)) refuse(folder.string(), "the data set itself");
  if (fs::exists(folder, ignored) && !fs::is_directory(folder, ignored))
    refuse(folder.string(), "a file");
  return {folder.string(), PlaceKind::kExplicit};
}

fs::path fallback_root() {
  if (const std::string own = environment("STOKER_CACHE"); !own.empty()) return own;
  if (const std::string xdg = environment("XDG_CACHE_HOME"); !xdg.empty())
    return fs::path(xdg) / "stoker";
  return fs::path(environment("HOME")) / ".cache" / "stoker";
}

}  // namespace

std::string caches_of_data(const config::Settings& settings) {
  return (data_folder(settings) / ".stoker").string();
}

CachePlace find_cache_place(const config::Settings& settings, const Digest128& features, Io& io) {
  if (!settings.cache.dir.empty()) return explicit_place(settings);
  const std::string name = features.short_hex();
  const fs::path data = data_folder(settings);
  const fs::path beside = data / ".stoker" / name;
  if (holds_cache(beside, io) || can_be_written(beside))
    return {beside.string(), PlaceKind::kBesideData};
  const std::string own =
      fmt::format("{}-{:016x}", data.filename().string(), hash64(data.string()));
  return {(fallback_root() / own / name).string(), PlaceKind::kFallback};
}

std::string mode_warning(const File& folder) {
  Result<FileInfo> info = folder.info();
  constexpr unsigned kOthersWrite = 0002;
  constexpr unsigned kSticky = 01000;
  if (!info || (info->mode & kOthersWrite) == 0 || (info->mode & kSticky) != 0) return {};
  return fmt::format("{}: every user of this machine may write into the cache", folder.path());
}

}  // namespace stoker::cache
