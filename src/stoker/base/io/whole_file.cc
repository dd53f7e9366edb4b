// Whole files and folders on top of File: read at once, publish atomically, create with parents.
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "stoker/base/errors.h"
#include "stoker/base/io/io.h"
#include "stoker/base/io/paths.h"
#include "stoker/base/number_text.h"

namespace stoker {
namespace {

Error too_big(const File& file, std::uint64_t limit_bytes, const std::string& found) {
  return {.code = &kIoTooBig,
          .place = {.file = file.path(), .line = {}, .column = {}, .byte = {}},
          .promised = fmt::format("at most {}", bytes_text(limit_bytes)),
          .found = found,
          .action = "not read",
          .cure = {}};
}

Error not_regular(const File& file) {
  Error error = io_error("read", file.path(), ENXIO);
  error.found = "cannot read: it is a folder, pipe, socket or device, not a file";
  return error;
}

Result<void> write_and_sync(const File& folder, const std::string& name,
                            std::span<const std::byte> content) {
  Result<File> opened = open_beneath(folder, name, OpenFor::kCreateNew);
  if (!opened.ok()) return std::move(opened).error();
  if (Result<void> done = opened->write_at(content, 0); !done.ok()) return done;
  if (Result<void> done = opened->sync(); !done.ok()) return done;
  return opened->close();
}

SysResult make_one(Io& io, const std::string& path) {
  constexpr unsigned kFolderMode = 0755;
  return io.make_folder_at(AT_FDCWD, path, kFolderMode);
}

}  // namespace

Result<std::vector<std::byte>> read_whole(const File& file, std::uint64_t limit_bytes) {
  Result<FileInfo> info = file.info();
  if (!info.ok()) return std::move(info).error();
  if (info->kind != FileKind::kRegular) return not_regular(file);
  if (info->size_bytes > limit_bytes)
    return too_big(file, limit_bytes, bytes_text(info->size_bytes));

  // One byte more than promised, so that a file that grew or hides its size (/proc) is noticed.
  std::vector<std::byte> content(info->size_bytes + 1);
  std::size_t num_read = 0;
  while (true) {
    Result<std::size_t> got = file.read_at(std::span(content).subspan(num_read), num_read);
    if (!got.ok()) return std::move(got).error();
    num_read += *got;
    if (num_read > limit_bytes) return too_big(file, limit_bytes, "more");
    if (num_read < content.size()) break;
    content.resize(std::min<std::uint64_t>(2 * content.size() + 4096, limit_bytes + 1));
  }
  content.resize(num_read);
  return content;
}

Result<void> publish_file(const File& folder, const std::string& name,
                          std::span<const std::byte> content) {
  const std::string temp = temp_name_for(name);
  Io& io = folder.io();
  Result<void> written = write_and_sync(folder, temp, content);
  if (!written.ok()) {
    io.unlink_at(folder.handle(), temp, false);
    return written;
  }
  const SysResult renamed = io.rename_at(folder.handle(), temp, name);
  if (!renamed.ok()) {
    io.unlink_at(folder.handle(), temp, false);
    return io_error("rename into place", folder.path() + "/" + name, renamed.error_number);
  }
  return folder.sync();
}

Result<void> make_folders(Io& io, const std::string& path) {
  std::size_t end = 0;
  while (end < path.size()) {
    end = std::min(path.find('/', end + 1), path.size());
    const std::string part = path.substr(0, end);
    const SysResult made = make_one(io, part);
    if (made.ok() || made.error_number == EEXIST) continue;
    FileInfo info;
    // A parent that may not be written but is there is fine (read-only mounts, "/").
    const bool is_there = io.info_at(AT_FDCWD, part, info).ok() && info.kind != FileKind::kRegular;
    if (!is_there) return io_error("create the folder", part, made.error_number);
  }
  Result<File> opened = open_file(io, path, OpenFor::kFolder);
  if (!opened.ok()) return std::move(opened).error();
  return {};
}

}  // namespace stoker
