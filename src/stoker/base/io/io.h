// The seam for files: everything stoker reads, writes, renames or locks goes through an Io that
// tests can fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/result.h"

namespace stoker {

enum class FileKind { kRegular, kFolder, kLink, kPipe, kSocket, kDevice, kOther };

struct FileInfo {
  FileKind kind = FileKind::kOther;
  std::uint64_t size_bytes = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;
  std::uint64_t inode = 0;
  std::uint64_t device = 0;
  std::uint32_t mode = 0;
  std::uint32_t owner = 0;
};

struct FolderEntry {
  std::string name;
  FileKind kind = FileKind::kOther;
};

// What a system call gave: a value >= 0, or the errno it failed with.
struct SysResult {
  std::int64_t value = 0;
  int error_number = 0;
  bool ok() const noexcept { return error_number == 0; }
};

// The raw calls as the kernel has them: they may fail, and reads and writes may be short or be
// interrupted (others are repeated then). Thread-safe. Production is one stateless object; tests
// wrap it to fail, shorten, delay or kill at the Nth call.
class Io {
 public:
  virtual ~Io() = default;

  // `flags` are open(2)'s; O_CLOEXEC is always added. With `beneath` the path may not leave
  // `folder`, neither by
  // "..", nor absolutely, nor through a symbolic link (openat2 with RESOLVE_BENEATH; EXDEV when it
  // tries).
  struct OpenHow {
    int flags = 0;
    unsigned mode = 0;
    bool beneath = false;
    bool follow_links = true;
  };
  virtual SysResult open_at(int folder, const std::string& path, const OpenHow& how) = 0;
  virtual SysResult close(int handle) = 0;
  virtual SysResult pread(int handle, std::span<std::byte> into, std::uint64_t offset_bytes) = 0;
  virtual SysResult pwrite(int handle, std::span<const std::byte> from,
                           std::uint64_t offset_bytes) = 0;
  virtual SysResult sync(int handle) = 0;
  virtual SysResult allocate(int handle, std::uint64_t size_bytes) = 0;  // posix_fallocate
  virtual SysResult truncate(int handle, std::uint64_t size_bytes) = 0;
  virtual SysResult info(int handle, FileInfo& out) = 0;
  virtual SysResult info_at(int folder, const std::string& path, FileInfo& out) = 0;  // lstat
  virtual SysResult rename_at(int folder, const std::string& from, const std::string& to) = 0;
  virtual SysResult unlink_at(int folder, const std::string& path, bool is_folder) = 0;
  virtual SysResult make_folder_at(int folder, const std::string& path, unsigned mode) = 0;
  virtual SysResult list(int folder, std::vector<FolderEntry>& out) = 0;
  virtual SysResult try_lock(int handle) = 0;  // exclusive, dies with the holder; EWOULDBLOCK
  virtual SysResult free_space(int handle, std::uint64_t& bytes) = 0;
  virtual SysResult map(int handle, std::uint64_t size_bytes,
                        const std::byte*& out) = 0;  // read-only, shared
  virtual SysResult unmap(const std::byte* at, std::uint64_t size_bytes) = 0;
};

// The kernel itself.
Io& system_io();

// An open file or folder; closes itself. Errors name `path` as the user would recognise it.
// Not thread-safe as an object; read_at and write_at on one File from several threads are.
class File {
 public:
  File() = default;
  File(Io& io, int handle, std::string path);
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  bool is_open() const noexcept { return handle_ >= 0; }
  int handle() const noexcept { return handle_; }
  Io& io() const noexcept { return *io_; }
  const std::string& path() const noexcept { return path_; }

  Result<FileInfo> info() const;
  // Reads until `into` is full or the file ends; returns the bytes read. Interrupted and short
  // reads are retried.
  Result<std::size_t> read_at(std::span<std::byte> into, std::uint64_t offset_bytes) const;
  // Writes all of it or fails.
  Result<void> write_at(std::span<const std::byte> from, std::uint64_t offset_bytes) const;
  Result<void> sync() const;
  Result<void> allocate(std::uint64_t size_bytes) const;
  // Reports what close(2) reports (delayed write errors of network file systems); the destructor
  // cannot.
  Result<void> close();

 private:
  Io* io_ = nullptr;
  int handle_ = -1;
  std::string path_;
};

// kCreateNew refuses what is already there; kReadWrite makes the file when it is absent.
enum class OpenFor { kRead, kCreateNew, kReadWrite, kFolder };

// Opens `path` (absolute or relative to the working folder).
Result<File> open_file(Io& io, const std::string& path, OpenFor purpose);
// Opens `relative` under an open folder; it can never leave that folder. Never blocks on a FIFO.
Result<File> open_beneath(const File& folder, const std::string& relative, OpenFor purpose);

// The whole file; `limit_bytes` bounds the memory. E-IO-TOOBIG past it.
Result<std::vector<std::byte>> read_whole(const File& file, std::uint64_t limit_bytes);

// Publishes a small file: temp in the same folder, write, fsync, rename, fsync of the folder.
Result<void> publish_file(const File& folder, const std::string& name,
                          std::span<const std::byte> content);

// Creates `path` and its parents where absent.
Result<void> make_folders(Io& io, const std::string& path);

// Turns an errno into the Error a user can act on: names path, operation and reason in words.
Error io_error(std::string_view operation, const std::string& path, int error_number);

}  // namespace stoker
