// One builder at a time: a lock that dies with its holder and says who holds it.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "stoker/base/clock.h"
#include "stoker/base/io/io.h"
#include "stoker/base/result.h"

namespace stoker::cache {

inline constexpr std::string_view kLockName = "lock";

enum class WhenLocked { kWait, kRefuse };
enum class BreakLock { kNo, kYes };

struct LockOptions {
  WhenLocked when_locked = WhenLocked::kWait;
  BreakLock break_lock = BreakLock::kNo;
  // Told once when another process holds the lock: "pid 812 on host a, since 2026-11-15 …".
  std::function<void(const std::string&)> on_wait{};
  std::stop_token stop{};
};

// Holds the file `lock` in the cache folder by flock(2) until destroyed. While held the file names
// pid, host and start; afterwards it is empty, so that finished caches have equal bytes.
class CacheLock {
 public:
  // E-CACHE-LOCKED when held elsewhere and not waited for; E-CACHE-NOLOCK where the file system has
  // no locks and break_lock does not say that this is known. A lock that is broken is replaced by
  // a new file: the old holder, if it lives, keeps the old one.
  static Result<CacheLock> take(const File& folder, const LockOptions& options,
                                const Clock& clock = system_clock());
  CacheLock(CacheLock&&) noexcept = default;
  CacheLock& operator=(CacheLock&&) noexcept = default;
  ~CacheLock();

 private:
  explicit CacheLock(File file) : file_(std::move(file)) {}
  File file_;
};

}  // namespace stoker::cache
