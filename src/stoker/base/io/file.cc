#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "stoker/base/errors.h"
#include "stoker/base/io/io.h"
#include "stoker/base/number_text.h"

namespace stoker {
namespace {

// Interrupted moves are tried again; the bound turns one that never gets on into an error.
constexpr int kMaxIdleTries = 1000;

bool is_transient(int error_number) { return error_number == EINTR || error_number == EAGAIN; }

Io::OpenHow how_to_open(OpenFor purpose) {
  constexpr unsigned kFileMode = 0644;
  switch (purpose) {
    case OpenFor::kRead:
      // Without O_NONBLOCK the open of a pipe waits for a writer that may never come.
      return {.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY};
    case OpenFor::kCreateNew:
      return {.flags = O_RDWR | O_CREAT | O_EXCL, .mode = kFileMode};
    case OpenFor::kReadWrite:
      return {.flags = O_RDWR | O_CREAT | O_NONBLOCK | O_NOCTTY, .mode = kFileMode};
    case OpenFor::kFolder:
      return {.flags = O_RDONLY | O_DIRECTORY};
  }
  return {};
}

Error failure_of(const File& file, std::string_view operation, int error_number) {
  return io_error(operation, file.path(), error_number);
}

// A full disk is only useful news with both sizes.
Error write_failure(const File& file, std::string_view operation, int error_number,
                    std::uint64_t needed_bytes) {
  Error error = failure_of(file, operation, error_number);
  std::uint64_t free_bytes = 0;
  if (error.code == &kIoFull && file.io().free_space(file.handle(), free_bytes).ok())
    error.found +=
        fmt::format(" ({} needed, {} free)", bytes_text(needed_bytes), bytes_text(free_bytes));
  return error;
}

}  // namespace

File::File(Io& io, int handle, std::string path)
    : io_(&io), handle_(handle), path_(std::move(path)) {}

File::File(File&& other) noexcept
    : io_(other.io_), handle_(std::exchange(other.handle_, -1)), path_(std::move(other.path_)) {}

File& File::operator=(File&& other) noexcept {
  if (this == &other) return *this;
  if (is_open()) io_->close(handle_);
  io_ = other.io_;
  handle_ = std::exchange(other.handle_, -1);
  path_ = std::move(other.path_);
  return *this;
}

File::~File() {
  if (is_open()) io_->close(handle_);
}

Result<FileInfo> File::info() const {
  FileInfo found;
  const SysResult done = io_->info(handle_, found);
  if (!done.ok()) return failure_of(*this, "examine", done.error_number);
  return found;
}

Result<std::size_t> File::read_at(std::span<std::byte> into, std::uint64_t offset_bytes) const {
  std::size_t num_read = 0;
  int idle_tries = 0;
  while (num_read < into.size()) {
    const SysResult got = io_->pread(handle_, into.subspan(num_read), offset_bytes + num_read);
    if (is_transient(got.error_number) && ++idle_tries < kMaxIdleTries) {
      std::this_thread::yield();
      continue;
    }
    if (!got.ok()) {
      Error error = failure_of(*this, "read", got.error_number);
      error.place.byte = offset_bytes + num_read;
      return error;
    }
    if (got.value == 0) break;
    num_read += static_cast<std::size_t>(got.value);
    idle_tries = 0;
  }
  return num_read;
}

Result<void> File::write_at(std::span<const std::byte> from, std::uint64_t offset_bytes) const {
  std::size_t num_written = 0;
  int idle_tries = 0;
  while (num_written < from.size()) {
    const SysResult put =
        io_->pwrite(handle_, from.subspan(num_written), offset_bytes + num_written);
    const bool idle = is_transient(put.error_number) || (put.ok() && put.value == 0);
    if (idle && ++idle_tries < kMaxIdleTries) {
      std::this_thread::yield();
      continue;
    }
    if (!put.ok() || idle) {
      const int reason = put.ok() ? EIO : put.error_number;
      Error error = write_failure(*this, "write", reason, from.size() - num_written);
      error.place.byte = offset_bytes + num_written;
      return error;
    }
    num_written += static_cast<std::size_t>(put.value);
    idle_tries = 0;
  }
  return {};
}

Result<void> File::sync() const {
  const SysResult done = io_->sync(handle_);
  if (!done.ok()) return failure_of(*this, "flush to disk", done.error_number);
  return {};
}

Result<void> File::allocate(std::uint64_t size_bytes) const {
  const SysResult done = io_->allocate(handle_, size_bytes);
  if (!done.ok()) return write_failure(*this, "reserve space", done.error_number, size_bytes);
  return {};
}

Result<void> File::close() {
  if (!is_open()) return {};
  const SysResult done = io_->close(std::exchange(handle_, -1));
  // Linux has closed the handle even when it reports an interruption; a second close could hit
  // another thread's file.
  if (!done.ok() && done.error_number != EINTR)
    return failure_of(*this, "close", done.error_number);
  return {};
}

Result<File> open_file(Io& io, const std::string& path, OpenFor purpose) {
  const SysResult opened = io.open_at(AT_FDCWD, path, how_to_open(purpose));
  if (!opened.ok()) return io_error("open", path, opened.error_number);
  return File(io, static_cast<int>(opened.value), path);
}

Result<File> open_beneath(const File& folder, const std::string& relative, OpenFor purpose) {
  Io::OpenHow how = how_to_open(purpose);
  how.beneath = true;
  std::string path = folder.path() + "/" + relative;
  const SysResult opened = folder.io().open_at(folder.handle(), relative, how);
  if (!opened.ok()) return io_error("open", path, opened.error_number);
  return File(folder.io(), static_cast<int>(opened.value), std::move(path));
}

}  // namespace stoker
