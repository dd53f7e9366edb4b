// The seam for threads: a test may decide which thread runs at every lock, wait, notify and start.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <stop_token>
#include <string>

namespace stoker {

enum class WaitEnd { kNotified, kStopped, kDeadline };

// Called by sync.h in place of blocking, and only by threads it manages. Objects are known by
// address; a call returns when the caller may go on, and may let any number of others run before.
class Scheduler {
 public:
  using ThreadId = int;
  struct Wait {
    const void* condition;
    const void* mutex;  // released while waiting, owned again on return
    const std::stop_token& stop;
    std::optional<std::chrono::nanoseconds> deadline;
  };

  virtual ~Scheduler() = default;
  virtual bool manages_this_thread() const noexcept = 0;

  virtual void pass() = 0;                      // others may run here
  virtual void acquire(const void* mutex) = 0;  // before the real lock
  virtual bool try_acquire(const void* mutex) = 0;
  virtual void release(const void* mutex) = 0;  // after the real unlock
  virtual WaitEnd wait(const Wait& wait) = 0;
  virtual void notify_one(const void* condition) = 0;
  virtual void notify_all(const void* condition) = 0;

  virtual ThreadId create_thread(const std::string& name) = 0;  // by the parent
  virtual void begin_thread(ThreadId id) = 0;                   // by the thread itself, first
  virtual void end_thread(ThreadId id) = 0;                     // and last
  virtual void await_end(ThreadId id) = 0;                      // before the real join
};

// Null in production; every scheduling point costs one load and one predictable branch.
extern std::atomic<Scheduler*> installed_scheduler;

inline Scheduler* scheduler_of_this_thread() noexcept {
  Scheduler* const scheduler = installed_scheduler.load(std::memory_order_acquire);
  if (scheduler == nullptr) [[likely]]
    return nullptr;
  return scheduler->manages_this_thread() ? scheduler : nullptr;
}

// Marks a place between two atomic operations where a schedule may switch threads.
inline void schedule_point() {
  if (Scheduler* const scheduler = scheduler_of_this_thread()) scheduler->pass();
}

}  // namespace stoker
