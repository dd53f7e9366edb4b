#include "stoker/feed/baseline/naive_files.h"

#include "stoker/base/bytes.h"
#include "stoker/base/digest/digest.h"
#include "stoker/cache/maintain/export.h"
#include "stoker/cache/read/reader.h"

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

}  // namespace stoker::feed
