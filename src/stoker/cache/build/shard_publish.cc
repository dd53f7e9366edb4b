#include "stoker/cache/build/shard_publish.h"

#include <fmt/format.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "stoker/base/errors.h"
#include "stoker/base/io/paths.h"
#include "stoker/base/number_text.h"
#include "stoker/cache/errors.h"
#include "stoker/cache/read/damage.h"
#include "stoker/cache/read/shard_file.h"
#include "stoker/cache/read/sigbus_guard.h"

namespace stoker::cache {
namespace {

// Adds what a user needs to know when there is no room: how much was wanted, how much is free.
Error with_space(Error error, const File& folder, std::uint64_t needed_bytes) {
  std::uint64_t free_bytes = 0;
  if (error.code != &kIoFull || !folder.io().free_space(folder.handle(), free_bytes).ok())
    return error;
  error.promised = bytes_text(needed_bytes) + " of free space";
  error.found = fmt::format("{} ({})", bytes_text(free_bytes), error.found);
  return error;
}

Result<Digest128> write_temp(const File& folder, const std::string& temp, const ShardHeader& header,
                             std::span<MadeRecord* const> records) {
  Result<File> file = open_beneath(folder, temp, OpenFor::kCreateNew);
  if (!file) return std::move(file).error();
  const std::vector<const MadeRecord*> views(records.begin(), records.end());
  const std::uint64_t size_bytes = shard_bytes(views);
  if (Result<void> done = file->allocate(size_bytes); !done)
    return with_space(done.error(), folder, size_bytes);
  Result<Digest128> digest = write_shard(*file, header, records);
  if (!digest) return with_space(std::move(digest).error(), folder, size_bytes);
  if (Result<void> done = file->sync(); !done) return done.error();
  if (Result<void> done = file->close(); !done) return done.error();
  return digest;
}

// What the storage gives back now, through a new handle.
Result<ShardLine> read_back(const File& folder, const std::string& temp, const Digest128& digest) {
  Result<File> file = open_beneath(folder, temp, OpenFor::kRead);
  if (!file) return std::move(file).error();
  Result<FileInfo> info = file->info();
  if (!info) return std::move(info).error();
  Result<Mapping> mapping = map_file(*file, info->size_bytes);
  if (!mapping) return std::move(mapping).error();
  std::vector<Error> faults;
  auto check = [&] { faults = check_shard_bytes(file->path(), mapping->bytes()); };
  const bool readable = guarded(mapping->bytes(), check);
  Result<ShardView> view = Error{};
  if (readable && faults.empty()) view = ShardView::open_whole(file->path(), mapping->bytes());
  if (view.ok() && view->digest() == digest) {
    const ShardHeader& header = view->header();
    return ShardLine{header.number,    header.kind,     {},    header.num_records,
                     info->size_bytes, header.settings, digest};
  }
  Error error = !faults.empty() ? faults.front() : Error{};
  error.code = &kBuildVerify;
  error.place.file = file->path();
  if (error.promised.empty()) error.promised = "the bytes that were written";
  if (error.found.empty()) error.found = "other bytes";
  return error;
}

Result<ShardLine> publish_temp(const File& folder, const std::string& temp,
                               const ShardHeader& header, std::span<MadeRecord* const> records,
                               const std::function<void()>& before_rename) {
  Result<Digest128> digest = write_temp(folder, temp, header, records);
  if (!digest) return std::move(digest).error();
  Result<ShardLine> line = read_back(folder, temp, *digest);
  if (!line) return line;
  const std::string name = shard_file_name(header.number);
  if (before_rename) before_rename();
  if (Result<void> done = set_folder_aside(folder, name); !done) return done.error();
  const SysResult renamed = folder.io().rename_at(folder.handle(), temp, name);
  if (!renamed.ok())
    return io_error("rename into place", folder.path() + "/" + name, renamed.error_number);
  if (Result<void> synced = folder.sync(); !synced) return synced.error();
  return line;
}

}  // namespace

Result<ShardLine> publish_shard(const File& folder, const ShardHeader& header,
                                const std::string& array, std::span<MadeRecord* const> records,
                                const std::function<void()>& before_rename) {
  const std::string temp = temp_name_for(shard_file_name(header.number));
  try {
    Result<ShardLine> line = publish_temp(folder, temp, header, records, before_rename);
    if (line)
      line->array = array;
    else
      folder.io().unlink_at(folder.handle(), temp, false);
    return line;
  } catch (...) {
    folder.io().unlink_at(folder.handle(), temp, false);
    throw;
  }
}

Result<void> set_folder_aside(const File& folder, const std::string& name) {
  FileInfo info;
  const SysResult found = folder.io().info_at(folder.handle(), name, info);
  if (!found.ok() || info.kind != FileKind::kFolder) return {};
  for (int number = 0;; ++number) {
    const std::string aside =
        number == 0 ? name + ".aside" : fmt::format("{}.aside.{}", name, number);
    FileInfo taken;
    if (folder.io().info_at(folder.handle(), aside, taken).ok()) continue;
    const SysResult moved = folder.io().rename_at(folder.handle(), name, aside);
    if (moved.ok()) return {};
    return io_error("move aside", folder.path() + "/" + name, moved.error_number);
  }
}

Result<std::size_t> remove_leftovers(const File& folder) {
  const Result<std::vector<FolderEntry>> entries = list_folder(folder);
  if (!entries) return entries.error();
  std::size_t num_removed = 0;
  for (const FolderEntry& entry : *entries) {
    if (!is_temp_name(entry.name) || entry.kind == FileKind::kFolder) continue;
    const SysResult removed = folder.io().unlink_at(folder.handle(), entry.name, false);
    if (!removed.ok() && removed.error_number != ENOENT)
      return io_error("remove", folder.path() + "/" + entry.name, removed.error_number);
    ++num_removed;
  }
  return num_removed;
}

}  // namespace stoker::cache
