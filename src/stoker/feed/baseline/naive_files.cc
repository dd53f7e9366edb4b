#include "stoker/feed/baseline/naive_files.h"

#include "stoker/base/bytes.h"
#include "stoker/base/digest/digest.h"
#include "stoker/cache/maintain/export.h"
#include "stoker/cache/read/cache_location.h"
#include "stoker/cache/read/reader.h"
#include "stoker/data/features/feature_spec.h"
#include "stoker/feed/errors.h"
#include "stoker/feed/source/augmentation.h"

namespace stoker::feed {
namespace {

// Written last: names the manifest that the files were made from.
constexpr const char* kMark = "made-from";
constexpr std::uint64_t kMaxManifestBytes = std::uint64_t{64} << 20U;

Result<std::string> read_text(Io& io, const std::string& path) {
  Result<File> file = open_file(io, path, OpenFor::kRead);
  if (!file) return file.error();
  Result<std::vector<std::byte>> bytes = read_whole(*file, kMaxManifestBytes);
  if (!bytes) return bytes.error();
  return std::string(view_text(*bytes));
}

Result<std::string> manifest_mark(Io& io, const std::string& cache_folder) {
  Result<std::string> text = read_text(io, cache_folder + "/manifest.json");
  if (!text) return text.error();
  return digest_of(std::string_view(*text)).hex();
}

}  // namespace

std::string npy_folder_of(const std::string& cache_folder) { return cache_folder + "-npy"; }

bool has_npy_folder(Io& io, const std::string& cache_folder) {
  const Result<std::string> wanted = manifest_mark(io, cache_folder);
  const Result<std::string> found = read_text(io, npy_folder_of(cache_folder) + "/" + kMark);
  return wanted && found && *wanted == *found;
}

void export_npy_folder(Io& io, const std::string& cache_folder, const NpyExportOptions& options) {
  if (has_npy_folder(io, cache_folder)) return;
  const std::string out = npy_folder_of(cache_folder);
  const std::string mark = manifest_mark(io, cache_folder).take_or_raise();
  const cache::Reader reader = cache::Reader::open(io, cache_folder).take_or_raise();
  cache::export_cache(reader, io, out,
                      {.ids = {}, .num_workers = options.num_workers, .stop = options.stop});
  if (options.stop.stop_requested()) return;
  const File folder = open_file(io, out, OpenFor::kFolder).take_or_raise();
  publish_file(folder, kMark, view_bytes(mark)).take_or_raise();
}

NaiveChoice choose_naive(const config::Settings& settings, Io& io) {
  using Mode = config::PreprocessingMode;
  NaiveChoice choice{settings, {}};
  Mode& mode = choice.settings.loader.preprocessing_mode;
  if (Augmentation::is_on(settings.augment)) mode = Mode::kRuntime;
  if (mode == Mode::kRuntime) return choice;
  const Digest128 features = data::FeatureIdentity(settings).features;
  const std::string cache_folder = cache::find_cache_place(settings, features, io).folder;
  if (has_npy_folder(io, cache_folder)) {
    mode = Mode::kPrecompute;
    choice.npy_folder = npy_folder_of(cache_folder);
  } else if (mode == Mode::kPrecompute) {
    raise({.code = &kFeedNotCached,
           .place = {.file = npy_folder_of(cache_folder)},
           .promised = "one .npy file a clip, made from the cache as it is now",
           .found = "no such files",
           .cure = "`stoker bench feed --loader naive --path cached` writes them; or use "
                   "preprocessing_mode runtime"});
  } else {
    mode = Mode::kRuntime;
  }
  return choice;
}

}  // namespace stoker::feed
