#include "stoker/base/io/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <optional>
#include <system_error>

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLinks = 40;

Error no_file(const std::string& path, std::string_view what) {
  Error error = io_error("write", path, EISDIR);
  error.found = fmt::format("cannot write: {}", what);
  return error;
}

// The kind of what `path` leads to, links followed; nothing when there is none. O_PATH looks
// without opening: a device does not notice, a pipe does not wait.
Result<std::optional<FileKind>> kind_behind(Io& io, const std::string& path) {
  const SysResult opened = io.open_at(AT_FDCWD, path, {.flags = O_PATH});
  if (opened.error_number == ENOENT) return std::optional<FileKind>();
  if (!opened.ok()) return io_error("open", path, opened.error_number);
  const File there(io, static_cast<int>(opened.value), path);
  Result<FileInfo> info = there.info();
  if (!info.ok()) return std::move(info).error();
  return std::optional(info->kind);
}

// Where a chain of links ends; the path itself when it is no link.
Result<std::string> end_of_links(Io& io, std::string path) {
  for (int num_links = 0; num_links < kMaxLinks; ++num_links) {
    FileInfo info;
    if (!io.info_at(AT_FDCWD, path, info).ok() || info.kind != FileKind::kLink) return path;
    std::error_code fault;
    const fs::path target = fs::read_symlink(path, fault);
    if (fault) return io_error("read the link", path, fault.value());
    path = (fs::path(path).parent_path() / target).string();
  }
  return io_error("open", path, ELOOP);
}

bool wait_for_room(int handle) {
  pollfd waiting{.fd = handle, .events = POLLOUT, .revents = 0};
  return poll(&waiting, 1, -1) > 0 || errno == EINTR;
}

// write(2) instead of the Io's pwrite, which pipes and terminals do not have.
int write_all(int handle, std::span<const std::byte> content) {
  while (!content.empty()) {
    const ssize_t put = ::write(handle, content.data(), content.size());
    if (put > 0) {
      content = content.subspan(static_cast<std::size_t>(put));
    } else if (put == 0) {
      return EIO;
    } else if (errno == EAGAIN) {
      if (!wait_for_room(handle)) return errno;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

// A reader that leaves is an error to report, not the end of the process.
class QuietPipe {
 public:
  QuietPipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  QuietPipe(const QuietPipe&) = delete;
  QuietPipe& operator=(const QuietPipe&) = delete;
  ~QuietPipe() {
    const timespec now{};
    if (!was_pending_) sigtimedwait(&pipe_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

Result<void> write_into(Io& io, const std::string& path, std::span<const std::byte> content) {
  const SysResult opened = io.open_at(AT_FDCWD, path, {.flags = O_WRONLY | O_NONBLOCK | O_NOCTTY});
  if (opened.error_number == ENXIO) return no_file(path, "no process reads this pipe");
  if (!opened.ok()) return io_error("open", path, opened.error_number);
  File there(io, static_cast<int>(opened.value), path);
  const QuietPipe quiet;
  if (const int fault = write_all(there.handle(), content); fault != 0)
    return io_error("write", path, fault);
  return there.close();
}

Result<void> put_in_place(Io& io, const std::string& path, std::span<const std::byte> content) {
  Result<std::string> target = end_of_links(io, path);
  if (!target.ok()) return std::move(target).error();
  const std::size_t slash = target->rfind('/');
  const std::string parent = slash == std::string::npos ? "." : target->substr(0, slash + 1);
  const std::string name = slash == std::string::npos ? *target : target->substr(slash + 1);
  if (name.empty() || name == "." || name == "..") return no_file(path, "it names a folder");
  if (Result<void> made = make_folders(io, parent); !made.ok()) return made;
  Result<File> folder = open_file(io, parent, OpenFor::kFolder);
  if (!folder.ok()) return std::move(folder).error();
  return publish_file(*folder, name, content);
}

// Nothing: a file, there or to be made; else what else the bytes are written to.
Result<std::optional<FileKind>> special_kind(Io& io, const std::string& path) {
  if (path.empty()) return no_file(path, "an empty name");
  if (path.back() == '/') return no_file(path, "it names a folder");
  Result<std::optional<FileKind>> kind = kind_behind(io, path);
  if (!kind.ok()) return kind;
  if (!*kind || **kind == FileKind::kRegular) return std::optional<FileKind>();
  if (**kind == FileKind::kFolder) return no_file(path, "it is a folder");
  if (**kind == FileKind::kSocket) return no_file(path, "it is a socket");
  return kind;
}

}  // namespace

Result<void> publish_output(Io& io, const std::string& path, std::span<const std::byte> content) {
  Result<std::optional<FileKind>> special = special_kind(io, path);
  if (!special.ok()) return std::move(special).error();
  return *special ? write_into(io, path, content) : put_in_place(io, path, content);
}

Result<void> check_output(Io& io, const std::string& path) {
  Result<std::optional<FileKind>> special = special_kind(io, path);
  if (!special.ok()) return std::move(special).error();
  return {};
}

}  // namespace stoker
