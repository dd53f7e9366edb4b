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
#include <vector>

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

Result<File> open_special(Io& io, const std::string& path) {
  const SysResult opened = io.open_at(AT_FDCWD, path, {.flags = O_WRONLY | O_NONBLOCK | O_NOCTTY});
  if (opened.error_number == ENXIO) return no_file(path, "no process reads this pipe");
  if (!opened.ok()) return io_error("open", path, opened.error_number);
  return File(io, static_cast<int>(opened.value), path);
}

Result<void> write_special(const File& there, std::span<const std::byte> content) {
  const QuietPipe quiet;
  if (const int fault = write_all(there.handle(), content); fault != 0)
    return io_error("write", there.path(), fault);
  return {};
}

Result<void> write_into(Io& io, const std::string& path, std::span<const std::byte> content) {
  Result<File> there = open_special(io, path);
  if (!there.ok()) return std::move(there).error();
  if (Result<void> written = write_special(*there, content); !written.ok()) return written;
  return there.value().close();
}

// Where links lead, with the folder made.
struct Target {
  std::string parent, name;
};
Result<Target> find_target(Io& io, const std::string& path) {
  Result<std::string> target = end_of_links(io, path);
  if (!target.ok()) return std::move(target).error();
  const std::size_t slash = target->rfind('/');
  const std::string parent = slash == std::string::npos ? "./" : target->substr(0, slash + 1);
  const std::string name = slash == std::string::npos ? *target : target->substr(slash + 1);
  if (name.empty() || name == "." || name == "..") return no_file(path, "it names a folder");
  if (Result<void> made = make_folders(io, parent); !made.ok()) return made.error();
  return Target{parent, name};
}

Result<void> put_in_place(Io& io, const std::string& path, std::span<const std::byte> content) {
  Result<Target> target = find_target(io, path);
  if (!target.ok()) return std::move(target).error();
  Result<File> folder = open_file(io, target->parent, OpenFor::kFolder);
  if (!folder.ok()) return std::move(folder).error();
  return publish_file(*folder, target->name, content);
}

Result<File> open_empty(Io& io, const std::string& path) {
  Result<Target> target = find_target(io, path);
  if (!target.ok()) return std::move(target).error();
  Result<File> file = open_file(io, target->parent + target->name, OpenFor::kReadWrite);
  if (!file.ok()) return file;
  const SysResult cut = io.truncate(file->handle(), 0);
  if (!cut.ok()) return io_error("truncate", path, cut.error_number);
  return file;
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

Result<GrowingOutput> GrowingOutput::open(Io& io, const std::string& path) {
  Result<std::optional<FileKind>> special = special_kind(io, path);
  if (!special.ok()) return std::move(special).error();
  const bool is_file = !special->has_value();
  Result<File> file = is_file ? open_empty(io, path) : open_special(io, path);
  if (!file.ok()) return std::move(file).error();
  return GrowingOutput(std::move(file).value(), is_file);
}

Result<void> GrowingOutput::append(std::span<const std::byte> content,
                                   std::span<const std::byte> ending) {
  if (!is_file_) {
    Result<void> written = write_special(file_, content);
    if (written.ok()) size_bytes_ += content.size();
    return written;
  }
  // One write for both, so that no kill falls between them.
  std::vector<std::byte> both(content.begin(), content.end());
  both.insert(both.end(), ending.begin(), ending.end());
  Result<void> written = file_.write_at(both, size_bytes_);
  if (!written.ok()) {
    static_cast<void>(file_.io().truncate(file_.handle(), size_bytes_));
    static_cast<void>(file_.write_at(ending_, size_bytes_));
    return written;
  }
  const std::uint64_t end_bytes = size_bytes_ + both.size();
  const bool was_longer = size_bytes_ + ending_.size() > end_bytes;
  size_bytes_ += content.size();
  ending_.assign(ending.begin(), ending.end());
  if (!was_longer) return {};
  const SysResult cut = file_.io().truncate(file_.handle(), end_bytes);
  return cut.ok() ? Result<void>() : io_error("truncate", file_.path(), cut.error_number);
}

Result<void> GrowingOutput::finish(std::span<const std::byte> ending) {
  Result<void> written = is_file_ ? append({}, ending) : write_special(file_, ending);
  if (!written.ok()) return written;
  return file_.close();
}

}  // namespace stoker
