#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <initializer_list>
#include <memory>
#include <utility>

#include "stoker/base/io/io.h"
#include "stoker/base/io/open_walk.h"

namespace stoker {
namespace {

SysResult result_of(std::int64_t value) {
  return value < 0 ? SysResult{-1, errno} : SysResult{value, 0};
}

// Network and user-space file systems interrupt any call when a signal arrives. The bound turns a
// call that never comes to an end into an error.
constexpr int kMostTries = 1000;

// Repeats `call` while it ends with one of these errors.
template <class Call>
SysResult repeat_while(std::initializer_list<int> errors, Call call) {
  SysResult result;
  for (int tries = 0; tries < kMostTries; ++tries) {
    result = result_of(call());
    if (std::ranges::find(errors, result.error_number) == errors.end()) break;
  }
  return result;
}

template <class Call>
SysResult uninterrupted(Call call) {
  return repeat_while({EINTR}, call);
}

// A NUL would silently cut the name short for the kernel.
bool has_nul(const std::string& path) { return path.find('\0') != std::string::npos; }

constexpr SysResult kNulInName{-1, EILSEQ};

FileKind kind_of_mode(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return FileKind::kRegular;
    case S_IFDIR:
      return FileKind::kFolder;
    case S_IFLNK:
      return FileKind::kLink;
    case S_IFIFO:
      return FileKind::kPipe;
    case S_IFSOCK:
      return FileKind::kSocket;
    case S_IFCHR:
    case S_IFBLK:
      return FileKind::kDevice;
    default:
      return FileKind::kOther;
  }
}

FileInfo info_from(const struct stat& from) {
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  return {.kind = kind_of_mode(from.st_mode),
          .size_bytes = static_cast<std::uint64_t>(from.st_size),
          .mtime_ns = from.st_mtim.tv_sec * kNsPerSecond + from.st_mtim.tv_nsec,
          .ctime_ns = from.st_ctim.tv_sec * kNsPerSecond + from.st_ctim.tv_nsec,
          .inode = from.st_ino,
          .device = from.st_dev,
          .mode = from.st_mode & 07777U,
          .owner = from.st_uid};
}

SysResult open_with_openat2(int folder, const std::string& path, const Io::OpenHow& how) {
  open_how request{};
  request.flags = static_cast<std::uint64_t>(how.flags) | O_CLOEXEC;
  if ((how.flags & (O_CREAT | O_TMPFILE)) != 0) request.mode = how.mode;
  request.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  if (!how.follow_links) request.resolve |= RESOLVE_NO_SYMLINKS;
  // The kernel asks for another try with EAGAIN when a rename raced with the walk.
  return repeat_while({EINTR, EAGAIN}, [&] {
    return ::syscall(SYS_openat2, folder, path.c_str(), &request, sizeof request);
  });
}

SysResult walk_uninterrupted(int folder, const std::string& path, const Io::OpenHow& how) {
  return uninterrupted([&] {
    const SysResult opened = open_by_walking(folder, path, how);
    errno = opened.error_number;
    return opened.value;
  });
}

// Old kernels answer ENOSYS; old container sandboxes answer EPERM to calls they do not know.
bool kernel_has_openat2() {
  static const bool has = [] {
    open_how request{};
    request.flags = O_PATH | O_CLOEXEC;
    const long handle = ::syscall(SYS_openat2, AT_FDCWD, ".", &request, sizeof request);
    if (handle < 0) return errno != ENOSYS && errno != EPERM;
    ::close(static_cast<int>(handle));
    return true;
  }();
  return has;
}

class SystemIo final : public Io {
 public:
  SysResult open_at(int folder, const std::string& path, const OpenHow& how) override {
    if (has_nul(path)) return kNulInName;
    if (how.beneath)
      return kernel_has_openat2() ? open_with_openat2(folder, path, how)
                                  : walk_uninterrupted(folder, path, how);
    const int flags = how.flags | O_CLOEXEC | (how.follow_links ? 0 : O_NOFOLLOW);
    return uninterrupted(
        [&] { return ::openat(folder, path.c_str(), flags, static_cast<mode_t>(how.mode)); });
  }

  SysResult close(int handle) override { return result_of(::close(handle)); }

  SysResult pread(int handle, std::span<std::byte> into, std::uint64_t offset_bytes) override {
    return result_of(::pread(handle, into.data(), into.size(), static_cast<off_t>(offset_bytes)));
  }

  SysResult pwrite(int handle, std::span<const std::byte> from,
                   std::uint64_t offset_bytes) override {
    return result_of(::pwrite(handle, from.data(), from.size(), static_cast<off_t>(offset_bytes)));
  }

  SysResult sync(int handle) override {
    return uninterrupted([&] { return ::fsync(handle); });
  }

  SysResult allocate(int handle, std::uint64_t size_bytes) override {
    return uninterrupted([&] {
      errno = ::posix_fallocate(handle, 0, static_cast<off_t>(size_bytes));
      return errno == 0 ? 0 : -1;
    });
  }

  SysResult truncate(int handle, std::uint64_t size_bytes) override {
    return uninterrupted([&] { return ::ftruncate(handle, static_cast<off_t>(size_bytes)); });
  }

  SysResult info(int handle, FileInfo& out) override {
    struct stat found {};
    const SysResult done = uninterrupted([&] { return ::fstat(handle, &found); });
    if (done.ok()) out = info_from(found);
    return done;
  }

  SysResult info_at(int folder, const std::string& path, FileInfo& out) override {
    if (has_nul(path)) return kNulInName;
    struct stat found {};
    const SysResult done =
        uninterrupted([&] { return ::fstatat(folder, path.c_str(), &found, AT_SYMLINK_NOFOLLOW); });
    if (done.ok()) out = info_from(found);
    return done;
  }

  SysResult rename_at(int folder, const std::string& from, const std::string& to) override {
    if (has_nul(from) || has_nul(to)) return kNulInName;
    return uninterrupted([&] { return ::renameat(folder, from.c_str(), folder, to.c_str()); });
  }

  SysResult unlink_at(int folder, const std::string& path, bool is_folder) override {
    if (has_nul(path)) return kNulInName;
    return uninterrupted(
        [&] { return ::unlinkat(folder, path.c_str(), is_folder ? AT_REMOVEDIR : 0); });
  }

  SysResult make_folder_at(int folder, const std::string& path, unsigned mode) override {
    if (has_nul(path)) return kNulInName;
    return uninterrupted(
        [&] { return ::mkdirat(folder, path.c_str(), static_cast<mode_t>(mode)); });
  }

  SysResult list(int folder, std::vector<FolderEntry>& out) override;

  SysResult try_lock(int handle) override {
    return uninterrupted([&] { return ::flock(handle, LOCK_EX | LOCK_NB); });
  }

  SysResult free_space(int handle, std::uint64_t& bytes) override {
    struct statvfs found {};
    const SysResult done = uninterrupted([&] { return ::fstatvfs(handle, &found); });
    if (done.ok()) bytes = static_cast<std::uint64_t>(found.f_bavail) * found.f_frsize;
    return done;
  }

  SysResult map(int handle, std::uint64_t size_bytes, const std::byte*& out) override {
    void* const at = ::mmap(nullptr, size_bytes, PROT_READ, MAP_SHARED, handle, 0);
    if (at == MAP_FAILED) return {-1, errno};
    out = static_cast<const std::byte*>(at);
    return {};
  }

  SysResult unmap(const std::byte* at, std::uint64_t size_bytes) override {
    return result_of(::munmap(const_cast<std::byte*>(at), size_bytes));
  }
};

SysResult kind_of_entry(int folder, const dirent& entry, FileKind& kind) {
  // The kind is the file mode's upper bits (DTTOIF, whose macro is not clean of conversions).
  kind = kind_of_mode(mode_t{entry.d_type} << 12U);
  if (entry.d_type != DT_UNKNOWN) return {};
  struct stat found {};
  const SysResult done =
      uninterrupted([&] { return ::fstatat(folder, entry.d_name, &found, AT_SYMLINK_NOFOLLOW); });
  if (done.ok()) kind = kind_of_mode(found.st_mode);
  // One that was removed meanwhile is listed as the thing without a kind that it is.
  return done.error_number == ENOENT ? SysResult{} : done;
}

// The next entry, or null after the last.
SysResult next_entry(DIR* stream, const dirent*& entry) {
  return uninterrupted([&] {
    errno = 0;
    entry = ::readdir(stream);
    return entry == nullptr && errno != 0 ? -1 : 0;
  });
}

SysResult SystemIo::list(int folder, std::vector<FolderEntry>& out) {
  // A handle of its own: the position of a shared one would be moved under other threads.
  const SysResult own =
      uninterrupted([&] { return ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (!own.ok()) return own;
  std::unique_ptr<DIR, int (*)(DIR*)> stream(nullptr, &::closedir);
  const SysResult opened = uninterrupted([&] {
    stream.reset(::fdopendir(static_cast<int>(own.value)));
    return stream == nullptr ? -1 : 0;
  });
  if (!opened.ok()) {
    ::close(static_cast<int>(own.value));
    return opened;
  }
  out.clear();
  const dirent* entry = nullptr;
  SysResult read;
  while ((read = next_entry(stream.get(), entry)).ok() && entry != nullptr) {
    FolderEntry found{.name = entry->d_name};
    if (found.name == "." || found.name == "..") continue;
    read = kind_of_entry(folder, *entry, found.kind);
    if (!read.ok()) return read;
    out.push_back(std::move(found));
  }
  if (!read.ok()) return read;
  std::sort(out.begin(), out.end(),
            [](const FolderEntry& a, const FolderEntry& b) { return a.name < b.name; });
  return {};
}

}  // namespace

Io& system_io() {
  static SystemIo io;
  return io;
}

}  // namespace stoker
