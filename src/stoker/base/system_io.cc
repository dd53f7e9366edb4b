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
#include <memory>

#include "stoker/base/io.h"
#include "stoker/base/open_walk.h"

namespace stoker {
namespace {

SysResult result_of(std::int64_t value) {
  return value < 0 ? SysResult{-1, errno} : SysResult{value, 0};
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
  while (true) {
    const SysResult opened =
        result_of(::syscall(SYS_openat2, folder, path.c_str(), &request, sizeof request));
    // The kernel asks for another try when a rename raced with the walk.
    if (opened.error_number != EAGAIN) return opened;
  }
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
                                  : open_by_walking(folder, path, how);
    const int flags = how.flags | O_CLOEXEC | (how.follow_links ? 0 : O_NOFOLLOW);
    return result_of(::openat(folder, path.c_str(), flags, static_cast<mode_t>(how.mode)));
  }

  SysResult close(int handle) override { return result_of(::close(handle)); }

  SysResult pread(int handle, std::span<std::byte> into, std::uint64_t offset_bytes) override {
    return result_of(::pread(handle, into.data(), into.size(), static_cast<off_t>(offset_bytes)));
  }

  SysResult pwrite(int handle, std::span<const std::byte> from,
                   std::uint64_t offset_bytes) override {
    return result_of(::pwrite(handle, from.data(), from.size(), static_cast<off_t>(offset_bytes)));
  }

  SysResult sync(int handle) override { return result_of(::fsync(handle)); }

  SysResult allocate(int handle, std::uint64_t size_bytes) override {
    const int error = ::posix_fallocate(handle, 0, static_cast<off_t>(size_bytes));
    return {error == 0 ? 0 : -1, error};
  }

  SysResult truncate(int handle, std::uint64_t size_bytes) override {
    return result_of(::ftruncate(handle, static_cast<off_t>(size_bytes)));
  }

  SysResult info(int handle, FileInfo& out) override {
    struct stat found {};
    const SysResult done = result_of(::fstat(handle, &found));
    if (done.ok()) out = info_from(found);
    return done;
  }

  SysResult info_at(int folder, const std::string& path, FileInfo& out) override {
    if (has_nul(path)) return kNulInName;
    struct stat found {};
    const SysResult done = result_of(::fstatat(folder, path.c_str(), &found, AT_SYMLINK_NOFOLLOW));
    if (done.ok()) out = info_from(found);
    return done;
  }

  SysResult rename_at(int folder, const std::string& from, const std::string& to) override {
    if (has_nul(from) || has_nul(to)) return kNulInName;
    return result_of(::renameat(folder, from.c_str(), folder, to.c_str()));
  }

  SysResult unlink_at(int folder, const std::string& path, bool is_folder) override {
    if (has_nul(path)) return kNulInName;
    return result_of(::unlinkat(folder, path.c_str(), is_folder ? AT_REMOVEDIR : 0));
  }

  SysResult make_folder_at(int folder, const std::string& path, unsigned mode) override {
    if (has_nul(path)) return kNulInName;
    return result_of(::mkdirat(folder, path.c_str(), static_cast<mode_t>(mode)));
  }

  SysResult list(int folder, std::vector<FolderEntry>& out) override;

  SysResult try_lock(int handle) override { return result_of(::flock(handle, LOCK_EX | LOCK_NB)); }

  SysResult free_space(int handle, std::uint64_t& bytes) override {
    struct statvfs found {};
    const SysResult done = result_of(::fstatvfs(handle, &found));
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

FileKind kind_of_entry(int folder, const dirent& entry) {
  struct stat found {};
  // The kind is the file mode's upper bits (DTTOIF, whose macro is not clean of conversions).
  if (entry.d_type != DT_UNKNOWN) return kind_of_mode(mode_t{entry.d_type} << 12U);
  if (::fstatat(folder, entry.d_name, &found, AT_SYMLINK_NOFOLLOW) != 0) return FileKind::kOther;
  return kind_of_mode(found.st_mode);
}

SysResult SystemIo::list(int folder, std::vector<FolderEntry>& out) {
  // A handle of its own: the position of a shared one would be moved under other threads.
  const int own = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (own < 0) return {-1, errno};
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(own), &::closedir);
  if (stream == nullptr) {
    const int error = errno;
    ::close(own);
    return {-1, error};
  }
  out.clear();
  errno = 0;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") out.push_back({name, kind_of_entry(folder, *entry)});
    errno = 0;
  }
  if (errno != 0) return {-1, errno};
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
