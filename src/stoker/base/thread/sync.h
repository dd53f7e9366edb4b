// The one place for locks, waits and threads: checked by clang's thread-safety analysis, stoppable,
// and replayable under a test scheduler.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "stoker/base/clock.h"
#include "stoker/base/thread/native_thread.h"
#include "stoker/base/thread/scheduler.h"

// Names for clang's thread-safety attributes; other compilers see nothing.
#if defined(__clang__)
#define STOKER_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define STOKER_THREAD_ATTRIBUTE(x)
#endif

#define STOKER_CAPABILITY(name) STOKER_THREAD_ATTRIBUTE(capability(name))
#define STOKER_SCOPED_CAPABILITY STOKER_THREAD_ATTRIBUTE(scoped_lockable)
#define STOKER_GUARDED_BY(mutex) STOKER_THREAD_ATTRIBUTE(guarded_by(mutex))
#define STOKER_REQUIRES(...) STOKER_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define STOKER_ACQUIRE(...) STOKER_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define STOKER_RELEASE(...) STOKER_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define STOKER_NO_THREAD_CHECK STOKER_THREAD_ATTRIBUTE(no_thread_safety_analysis)

namespace stoker {

class STOKER_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() STOKER_ACQUIRE() {
    if (Scheduler* const scheduler = scheduler_of_this_thread()) scheduler->acquire(this);
    native_.lock();
  }
  void unlock() STOKER_RELEASE() {
    native_.unlock();
    if (Scheduler* const scheduler = scheduler_of_this_thread()) scheduler->release(this);
  }
  bool try_lock() STOKER_THREAD_ATTRIBUTE(try_acquire_capability(true)) {
    Scheduler* const scheduler = scheduler_of_this_thread();
    if (scheduler != nullptr && !scheduler->try_acquire(this)) return false;
    return native_.try_lock();
  }

 private:
  friend class ConditionVariable;
  std::mutex native_;
};

// Holds a Mutex to the end of the block.
class STOKER_SCOPED_CAPABILITY Lock {
 public:
  explicit Lock(Mutex& mutex) STOKER_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~Lock() STOKER_RELEASE() {
    if (holds_) mutex_.unlock();
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  // To call something slow or foreign in the middle of the block.
  void unlock() STOKER_RELEASE() {
    holds_ = false;
    mutex_.unlock();
  }
  void lock() STOKER_ACQUIRE() {
    mutex_.lock();
    holds_ = true;
  }

 private:
  friend class ConditionVariable;
  Mutex& mutex_;
  bool holds_ = true;
};

// A moment of a clock; waits end there.
struct Deadline {
  const Clock* clock;
  std::chrono::nanoseconds at;

  static Deadline after(const Clock& clock, std::chrono::nanoseconds delay) {
    return {&clock, clock.now() + delay};
  }
};

// Something that a long wait does now and then, outside of every lock: look for Ctrl-C, say what it
// waits for. `go_on` may end the wait by giving false; nothing is lost by it.
struct WaitPause {
  std::chrono::nanoseconds every{};
  std::function<bool()> go_on;
};

// Wakes waiters, sometimes without cause: wait in a loop over your own condition, which is then
// also what the thread-safety analysis can check:
//   while (items_.empty())
//     if (changed_.wait(lock, stop) == WaitEnd::kStopped) return std::nullopt;
// kStopped wins over a notification; after kDeadline look at the condition once more.
class ConditionVariable {
 public:
  ConditionVariable() = default;
  ConditionVariable(const ConditionVariable&) = delete;
  ConditionVariable& operator=(const ConditionVariable&) = delete;

  void notify_one();
  void notify_all();
  WaitEnd wait(Lock& lock, const std::stop_token& stop);
  // With a test's clock this wakes every millisecond of real time, so that a jump is seen.
  WaitEnd wait_until(Lock& lock, const std::stop_token& stop, const Deadline& deadline);

 private:
  std::condition_variable_any native_;
};

// The seam for thread starts: a test refuses some of them, as the system does at a limit.
class ThreadStarts {
 public:
  virtual ~ThreadStarts() = default;
  // The errno that the start of this thread ends with; 0 lets it start. From any thread.
  virtual int refuse(const std::string& name) = 0;
};

// Null in production.
extern std::atomic<ThreadStarts*> installed_thread_starts;

// A thread with a name (the first 15 bytes are shown by the system). Destruction requests stop and
// joins. An exception that leaves `body` ends the process: catch inside.
// The constructor throws MemoryError (E-THREAD-START) where the system starts no more threads; then
// `body` never runs. Whoever starts several must end those that run already before it passes the
// error on.
class Thread {
 public:
  using Body = std::function<void(std::stop_token)>;

  Thread() = default;
  Thread(const std::string& name, Body body);
  Thread(Thread&&) noexcept = default;
  Thread& operator=(Thread&& other) noexcept;
  ~Thread();

  bool joinable() const noexcept { return native_.joinable(); }
  bool request_stop() noexcept { return native_.request_stop(); }
  std::stop_token stop_token() const noexcept { return native_.get_stop_token(); }
  void join();

 private:
  void stop_and_join() noexcept;

  Scheduler::ThreadId scheduled_id_ = -1;
  NativeThread native_;
};

}  // namespace stoker
