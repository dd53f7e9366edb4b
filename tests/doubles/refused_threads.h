// Refuses the start of chosen threads, as the system does at a limit of processes or memory.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <limits>

#include "stoker/base/invariant.h"
#include "stoker/base/thread/sync.h"

namespace stoker {

// While it lives, the thread with number `first` (counted from 0) and every later one up to `last`
// are refused. One at a time.
class RefusedThreads final : public ThreadStarts {
 public:
  explicit RefusedThreads(std::uint64_t first,
                          std::uint64_t last = std::numeric_limits<std::uint64_t>::max())
      : first_(first), last_(last) {
    check_invariant(installed_thread_starts.exchange(this) == nullptr, "two refusals at once");
  }
  ~RefusedThreads() override { installed_thread_starts.store(nullptr); }
  RefusedThreads(const RefusedThreads&) = delete;
  RefusedThreads& operator=(const RefusedThreads&) = delete;

  int refuse(const std::string&) override {
    const std::uint64_t number = num_asked_.fetch_add(1);
    return number >= first_ && number <= last_ ? EAGAIN : 0;
  }
  std::uint64_t num_asked() const { return num_asked_.load(); }
  bool has_refused() const { return num_asked() > first_; }

 private:
  const std::uint64_t first_;
  const std::uint64_t last_;
  std::atomic<std::uint64_t> num_asked_{0};
};

}  // namespace stoker
