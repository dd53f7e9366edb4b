#include "stoker/cache/read/cache_location.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include "stoker/base/io/paths.h"
#include "stoker/cache/errors.h"
#include "stoker/cache/format/manifest.h"
#include "stoker/data/layout.h"

namespace stoker::cache {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// Of a metadata file, the folder that holds it.
fs::path folder_of(const std::string& path, Io& io) {
  const fs::path real = real_path(path);
  return is_folder(io, real) ? real : real.parent_path();
}

// A command that is given a cache alone has none.
std::vector<std::string> data_paths(const config::Settings& settings) {
  std::vector<std::string> paths;
  paths.reserve(settings.data.sources.size());
  for (const config::MixedSource& source : settings.data.sources) paths.push_back(source.data);
  if (paths.empty() && !settings.data.path.empty()) paths.push_back(settings.data.path);
  return paths;
}

fs::path data_folder(const config::Settings& settings, Io& io) {
  const std::vector<std::string> paths = data_paths(settings);
  return folder_of(paths.empty() ? std::string() : paths.front(), io);
}

bool is_inside(const fs::path& path, const fs::path& folder) {
  const auto [in_folder, in_path] =
      std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  static_cast<void>(in_path);
  return in_folder == folder.end();
}

bool holds_sound(const fs::path& folder, Io& io) {
  const Result<File> opened = open_file(io, folder.string(), OpenFor::kFolder);
  if (!opened) return false;
  const Result<std::vector<FolderEntry>> entries = list_folder(*opened);
  return entries && std::any_of(entries->begin(), entries->end(), [](const FolderEntry& entry) {
           const fs::path ending = fs::path(entry.name).extension();
           return ending == ".wav" || ending == ".flac" || ending == ".WAV" || ending == ".FLAC";
         });
}

// A list of utterances may be kept in any folder, with sound that is not of the data set below it.
bool is_folder_of_data(const std::string& path, Io& io) {
  const fs::path real = real_path(path);
  if (is_folder(io, real)) return true;
  const Result<File> folder = open_file(io, real.parent_path().string(), OpenFor::kFolder);
  return folder.ok() && data::usual_metadata_file(*folder) == real.filename().string();
}

// The folder of sound that `folder` is or would be in; empty when there is none.
fs::path sound_folder_around(const config::DataSettings& settings, const std::string& path,
                             const fs::path& folder, Io& io) {
  const fs::path data = folder_of(path, io);
  std::vector<fs::path> known{settings.wavs_train_dir, settings.wavs_eval_dir, settings.audio_root};
  for (const char* usual : {"wavs", "wavs_train", "wavs_eval", "wav", "audio", "clips"})
    known.emplace_back(usual);
  for (const fs::path& name : known) {
    if (name.empty()) continue;
    fs::path sound = real_path(data / name);
    if (is_folder(io, sound) && is_inside(folder, sound) && !is_inside(data, sound)) return sound;
  }
  if (!is_folder_of_data(path, io)) return holds_sound(folder, io) ? folder : fs::path();
  for (fs::path at = folder; at != data && is_inside(at, data); at = at.parent_path())
    if (holds_sound(at, io)) return at;
  return {};
}

bool holds_cache(const fs::path& folder, Io& io) {
  const std::string manifest = (folder / kManifestName).string();
  return info_if_present(io, AT_FDCWD, manifest).take_or_raise().has_value();
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

CacheLocation explicit_location(const config::Settings& settings, Io& io) {
  std::error_code ignored;
  const fs::path folder = real_path(settings.cache.dir);
  if (folder == folder.root_path()) refuse(folder.string(), "the root of the file system");
  for (const std::string& path : data_paths(settings)) {
    if (folder == folder_of(path, io)) refuse(folder.string(), "the data set itself");
    const fs::path sound = sound_folder_around(settings.data, path, folder, io);
    if (!sound.empty())
      refuse(folder.string(), fmt::format("inside {}, which holds sound files", sound.string()));
  }
  if (fs::exists(folder, ignored) && !fs::is_directory(folder, ignored))
    refuse(folder.string(), "a file");
  return {folder.string(), LocationKind::kExplicit};
}

fs::path fallback_root() {
  if (const std::string own = environment("STOKER_CACHE"); !own.empty()) return own;
  if (const std::string xdg = environment("XDG_CACHE_HOME"); !xdg.empty())
    return fs::path(xdg) / "stoker";
  return fs::path(environment("HOME")) / ".cache" / "stoker";
}

std::string file_name(const std::string& path) {
  const fs::path given(path);
  return given.has_filename() ? given.filename().string() : given.parent_path().filename().string();
}

// The folder of the list, and the list's own name where the folder alone would give another.
struct ListPlace {
  std::string folder;
  std::string name;
};

ListPlace place_of(const std::string& path, Io& io) {
  const fs::path real = real_path(path);
  if (is_folder(io, real)) return {real.string(), {}};
  const std::string name = real.filename().string();
  Result<File> folder = open_file(io, real.parent_path().string(), OpenFor::kFolder);
  const bool is_usual = folder.ok() && data::usual_metadata_file(*folder) == name;
  return {real.parent_path().string(), is_usual ? std::string() : name};
}

// Files for train and eval make the parts; otherwise the parts are drawn.
bool has_part_files(const config::DataSettings& data, const std::string& folder, Io& io) {
  if (!data.metadata_train_file.empty() || !data.metadata_eval_file.empty()) return true;
  const Result<File> opened = open_file(io, folder, OpenFor::kFolder);
  return opened.ok() && data::has_part_files(*opened);
}

void add_named_files(const config::DataSettings& data, std::vector<std::string>& parts) {
  const auto add = [&](const char* role, const std::string& file, const char* usual) {
    if (!file.empty() && file != usual)
      parts.push_back(fmt::format("{}={}", role, file_name(file)));
  };
  add("train", data.metadata_train_file, "metadata_train.csv");
  add("eval", data.metadata_eval_file, "metadata_eval.csv");
}

void add_part(const config::Settings& settings, bool has_files, std::vector<std::string>& parts) {
  const config::DataSettings& data = settings.data;
  const bool has_train = data.split != config::Split::kEval;
  const bool has_eval = data.split != config::Split::kTrain;
  const bool is_subset = (has_train && data.train_subset_fraction < 1.0) ||
                         (has_eval && data.eval_subset_fraction < 1.0);
  const bool is_drawn = data.split != config::Split::kAll && !has_files;
  if (data.split != config::Split::kAll)
    parts.push_back(fmt::format("split={}", has_train ? "train" : "eval"));
  if (is_drawn)
    parts.push_back(
        fmt::format("of {}:{} seed {}", data.train_split, data.val_split, settings.run.seed));
  if (is_subset)
    parts.push_back(fmt::format("subset={}:{} seed {}:{}", data.train_subset_fraction,
                                data.eval_subset_fraction, data.subset_seed, settings.run.seed));
}

}  // namespace

std::string caches_of_data(const config::Settings& settings, Io& io) {
  return (data_folder(settings, io) / ".stoker").string();
}

CacheLocation find_cache_location(const config::Settings& settings, const Digest128& features,
                                  Io& io) {
  if (!settings.cache.dir.empty()) return explicit_location(settings, io);
  std::string name = features.short_hex();
  if (const std::string list = list_key(settings, io); !list.empty())
    name += fmt::format("-{:016x}", hash64(list));
  const fs::path data = data_folder(settings, io);
  const fs::path beside = data / ".stoker" / name;
  if (holds_cache(beside, io) || can_be_written(beside))
    return {beside.string(), LocationKind::kBesideData};
  const std::string own =
      fmt::format("{}-{:016x}", data.filename().string(), hash64(data.string()));
  return {(fallback_root() / own / name).string(), LocationKind::kFallback};
}

bool has_same_features(const std::string& folder, const std::string& other) {
  constexpr std::size_t kHashDigits = 16;
  const auto features = [](const std::string& path) {
    const std::string name = fs::path(path).filename().string();
    const std::size_t dash = name.find('-');
    const bool has_list = dash != std::string::npos && name.size() - dash - 1 == kHashDigits &&
                          name.find_first_not_of("0123456789abcdef", dash + 1) == std::string::npos;
    return has_list ? name.substr(0, dash) : name;
  };
  return features(folder) == features(other);
}

std::string mode_warning(const File& folder) {
  Result<FileInfo> info = folder.info();
  constexpr unsigned kOthersWrite = 0002;
  constexpr unsigned kSticky = 01000;
  if (!info || (info->mode & kOthersWrite) == 0 || (info->mode & kSticky) != 0) return {};
  return fmt::format("{}: every user of this machine may write into the cache", folder.path());
}

std::string list_key(const config::Settings& settings, Io& io) {
  const config::DataSettings& data = settings.data;
  std::vector<std::string> parts;
  bool has_files = false;
  if (data.sources.empty() && !data.path.empty()) {
    const ListPlace place = place_of(data.path, io);
    has_files = place.name.empty() && has_part_files(data, place.folder, io);
    if (!place.name.empty()) parts.push_back(place.name);
  }
  for (const config::MixedSource& source : data.sources) {
    const ListPlace place = place_of(source.data, io);
    parts.push_back(fmt::format(
        "mix {}/{}", source.name.empty() ? file_name(place.folder) : source.name, place.name));
  }
  if (data.sources.empty()) add_named_files(data, parts);
  add_part(settings, has_files, parts);
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace stoker::cache
