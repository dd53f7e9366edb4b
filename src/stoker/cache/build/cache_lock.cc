#include "stoker/cache/build/cache_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <utility>

#include "stoker/base/bytes.h"
#include "stoker/base/thread/sync.h"
#include "stoker/cache/errors.h"

namespace stoker::cache {
namespace {

constexpr std::uint64_t kMaxLockBytes = 4096;
constexpr std::chrono::milliseconds kPollEvery{100};

std::string utc_text(std::int64_t unix_time_ns) {
  const auto seconds = static_cast<std::time_t>(unix_time_ns / 1'000'000'000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text.data();
}

std::string own_name(const Clock& clock) {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return fmt::format("pid {} on host {}, since {}\n", getpid(), host.data(),
                     utc_text(clock.unix_time_ns()));
}

std::string holder_text(const File& file) {
  Result<std::vector<std::byte>> bytes = read_whole(file, kMaxLockBytes);
  if (!bytes || bytes->empty()) return "a process that has not named itself yet";
  std::string text(view_text(*bytes));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

Error lock_error(const ErrorCode& code, const File& file, std::string found) {
  Error error;
  error.code = &code;
  error.place.file = file.path();
  error.promised = "no other builder";
  error.found = std::move(found);
  return error;
}

Result<File> open_lock(const File& folder) {
  const std::string name(kLockName);
  const SysResult opened =
      folder.io().open_at(folder.handle(), name,
                          {.flags = O_RDWR | O_CREAT | O_NOFOLLOW, .mode = 0644, .beneath = true});
  if (!opened.ok()) return io_error("open", folder.path() + "/" + name, opened.error_number);
  return File(folder.io(), static_cast<int>(opened.value), folder.path() + "/" + name);
}

// The file that was locked may have been removed or replaced by one who broke the lock.
Result<bool> is_still_in_place(const File& folder, const File& lock) {
  Result<FileInfo> held = lock.info();
  if (!held) return std::move(held).error();
  FileInfo in_place;
  const SysResult found = folder.io().info_at(folder.handle(), std::string(kLockName), in_place);
  if (found.error_number == ENOENT) return false;
  if (!found.ok()) return io_error("examine", lock.path(), found.error_number);
  return in_place.inode == held->inode;
}

void pause(const std::stop_token& stop) {
  Mutex mutex;
  ConditionVariable never;
  Lock lock(mutex);
  never.wait_until(lock, stop, Deadline::after(system_clock(), kPollEvery));
}

Result<void> write_name(const File& lock, const std::string& name) {
  const SysResult cut = lock.io().truncate(lock.handle(), 0);
  if (!cut.ok()) return io_error("truncate", lock.path(), cut.error_number);
  return lock.write_at(view_bytes(name), 0);
}

bool has_no_locks(int error_number) {
  return error_number == ENOLCK || error_number == ENOSYS || error_number == EOPNOTSUPP;
}

}  // namespace

Result<CacheLock> CacheLock::take(const File& folder, const LockOptions& options,
                                  const Clock& clock) {
  if (options.break_lock == BreakLock::kYes)
    folder.io().unlink_at(folder.handle(), std::string(kLockName), false);
  for (bool told = false;;) {
    Result<File> file = open_lock(folder);
    if (!file) return std::move(file).error();
    const SysResult locked = folder.io().try_lock(file->handle());
    if (has_no_locks(locked.error_number)) {
      if (options.break_lock == BreakLock::kNo)
        return lock_error(
            kLockBroken, *file,
            fmt::format("the file system has no locks; last holder: {}", holder_text(*file)));
    } else if (locked.error_number == EWOULDBLOCK) {
      const std::string holder = holder_text(*file);
      if (options.when_locked == WhenLocked::kRefuse || options.stop.stop_requested())
        return lock_error(kLockHeld, *file, fmt::format("held by {}", holder));
      if (!std::exchange(told, true) && options.on_wait) options.on_wait(holder);
      pause(options.stop);
      continue;
    } else if (!locked.ok()) {
      return io_error("lock", file->path(), locked.error_number);
    }
    Result<bool> in_place = is_still_in_place(folder, *file);
    if (!in_place) return std::move(in_place).error();
    if (!*in_place) continue;
    if (Result<void> named = write_name(*file, own_name(clock)); !named) return named.error();
    return CacheLock(std::move(file).value());
  }
}

CacheLock::~CacheLock() {
  if (file_.is_open()) file_.io().truncate(file_.handle(), 0);
}

}  // namespace stoker::cache
