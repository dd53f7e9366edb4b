#include "stoker/cache/export.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <utility>

#include "stoker/cache/npy.h"
#include "stoker/cache/parallel.h"

namespace stoker::cache {
namespace {

struct ExportItem {
  std::string folder;
  RecordRef ref;
};

std::string folder_name(const ShardLine& line) {
  return line.kind == RecordKind::kArray ? line.array : std::string(kind_name(line.kind));
}

// Ids of several data sets hold a "/": their files lie in sub-folders.
void write_record(Io& io, const std::string& path, std::span<const std::byte> bytes) {
  const std::size_t slash = path.rfind('/');
  make_folders(io, path.substr(0, slash)).take_or_raise();
  const File folder = open_file(io, path.substr(0, slash), OpenFor::kFolder).take_or_raise();
  io.unlink_at(folder.handle(), path.substr(slash + 1), false);
  File file = open_beneath(folder, path.substr(slash + 1), OpenFor::kCreateNew).take_or_raise();
  file.write_at(bytes, 0).take_or_raise();
  file.close().take_or_raise();
}

std::vector<ExportItem> items_of(const Reader& reader, const ExportOptions& options) {
  const std::set<std::string, std::less<>> wanted(options.ids.begin(), options.ids.end());
  std::vector<ExportItem> items;
  std::set<std::pair<RecordKind, std::string>> seen;
  for (const ShardLine& line : reader.manifest().shards) {
    if (!seen.insert({line.kind, line.array}).second) continue;
    for (std::size_t i = 0; i < reader.num_records(line.kind, line.array); ++i) {
      const RecordRef ref = reader.record(line.kind, i, line.array);
      if (wanted.empty() || wanted.contains(reader.info(ref).id))
        items.push_back({folder_name(line), ref});
    }
  }
  return items;
}

}  // namespace

ExportReport export_cache(const Reader& reader, Io& io, const std::string& out,
                          const ExportOptions& options) {
  const std::vector<ExportItem> items = items_of(reader, options);
  options.progress->set_total(items.size());
  std::atomic<std::uint64_t> num_files{0};
  std::atomic<std::uint64_t> size_bytes{0};
  run_parallel(options.num_workers, items.size(), [&](std::size_t i) {
    if (options.stop.stop_requested()) return;
    const RecordInfo info = reader.info(items[i].ref);
    ReadScratch scratch;
    std::vector<std::byte> payload(info.shape.payload_bytes().value_or(0));
    reader.read_into(items[i].ref, payload, scratch).take_or_raise();
    const std::vector<std::byte> bytes = encode_npy(info.shape, payload);
    write_record(io, out + "/" + items[i].folder + "/" + std::string(info.id) + ".npy", bytes);
    ++num_files;
    size_bytes += bytes.size();
    options.progress->advance(1);
  });
  return {num_files, size_bytes};
}

}  // namespace stoker::cache
