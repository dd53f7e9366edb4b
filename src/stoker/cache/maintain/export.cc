#include "stoker/cache/maintain/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/io/paths.h"
#include "stoker/base/thread/parallel.h"
#include "stoker/cache/build/shard_publish.h"
#include "stoker/cache/errors.h"
#include "stoker/cache/format/npy.h"

namespace stoker::cache {
namespace {

struct ExportItem {
  std::string folder;
  RecordRef ref;
};

std::string folder_name(const ShardLine& line) {
  return line.kind == RecordKind::kArray ? line.array : std::string(kind_name(line.kind));
}

// A relative path of plain names. Ids of several data sets hold a "/": their files are in
// sub-folders.
bool is_plain_path(std::string_view path) {
  while (true) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == ".." || part.find('\0') != std::string_view::npos)
      return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

void check_name(const Reader& reader, std::string_view name) {
  if (is_plain_path(name)) return;
  Error error;
  error.code = &kRecordName;
  error.place.file = reader.folder();
  error.promised = "ids and array names that stay inside a folder";
  error.found = fmt::format("\"{}\"", escape_control(name));
  raise(std::move(error));
}

// Under another name first, so that a killed export leaves no half file under this one.
void write_record(const File& out, const std::string& path, std::span<const std::byte> bytes) {
  const std::string temp = temp_name_for(path);
  File file = open_beneath(out, temp, OpenFor::kCreateNew).take_or_raise();
  Result<void> done = file.write_at(bytes, 0);
  if (done) done = file.close();
  if (done) {
    const SysResult renamed = out.io().rename_at(out.handle(), temp, path);
    if (!renamed.ok())
      done = io_error("rename into place", out.path() + "/" + path, renamed.error_number);
  }
  if (done) return;
  out.io().unlink_at(out.handle(), temp, false);
  raise(done.error());
}

std::vector<ExportItem> items_of(const Reader& reader, const ExportOptions& options) {
  const std::set<std::string, std::less<>> wanted(options.ids.begin(), options.ids.end());
  std::vector<ExportItem> items;
  std::set<std::pair<RecordKind, std::string>> seen;
  for (const ShardLine& line : reader.manifest().shards) {
    if (!seen.insert({line.kind, line.array}).second) continue;
    check_name(reader, folder_name(line));
    for (std::size_t i = 0; i < reader.num_records(line.kind, line.array); ++i) {
      const RecordRef ref = reader.record(line.kind, i, line.array);
      if (!wanted.empty() && !wanted.contains(reader.info(ref).id)) continue;
      check_name(reader, reader.info(ref).id);
      items.push_back({folder_name(line), ref});
    }
  }
  return items;
}

std::string path_of(const Reader& reader, const ExportItem& item) {
  return item.folder + "/" + std::string(reader.info(item.ref).id) + ".npy";
}

// Every folder that the files need, once, without what killed exports left there.
void prepare_folders(const Reader& reader, const std::vector<ExportItem>& items, Io& io,
                     const std::string& out) {
  std::set<std::string> folders;
  for (const ExportItem& item : items) {
    const std::string path = path_of(reader, item);
    folders.insert(path.substr(0, path.rfind('/')));
  }
  make_folders(io, out).take_or_raise();
  for (const std::string& folder : folders) {
    const std::string path = (std::filesystem::path(out) / folder).string();
    make_folders(io, path).take_or_raise();
    const File made = open_file(io, path, OpenFor::kFolder).take_or_raise();
    remove_leftovers(made).take_or_raise();
  }
}

}  // namespace

ExportReport export_cache(const Reader& reader, Io& io, const std::string& out,
                          const ExportOptions& options) {
  const std::vector<ExportItem> items = items_of(reader, options);
  options.progress->set_total(items.size());
  prepare_folders(reader, items, io, out);
  const File folder = open_file(io, out, OpenFor::kFolder).take_or_raise();
  std::atomic<std::uint64_t> num_files{0};
  std::atomic<std::uint64_t> size_bytes{0};
  run_parallel(options.num_workers, items.size(), [&](std::size_t i) {
    if (options.stop.stop_requested()) return;
    const RecordInfo info = reader.info(items[i].ref);
    ReadScratch scratch;
    std::vector<std::byte> payload(info.shape.payload_bytes().value_or(0));
    reader.read_into(items[i].ref, payload, scratch).take_or_raise();
    const std::vector<std::byte> bytes = encode_npy(info.shape, payload);
    write_record(folder, path_of(reader, items[i]), bytes);
    ++num_files;
    size_bytes += bytes.size();
    options.progress->advance(1);
  });
  return {num_files, size_bytes};
}

}  // namespace stoker::cache
