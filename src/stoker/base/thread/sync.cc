#include "stoker/base/thread/sync.h"

#include <pthread.h>

#include <array>
#include <system_error>
#include <utility>

#include "stoker/base/errors.h"

namespace stoker {
namespace {

// condition_variable_any only stops waiting for a predicate: this one asks to be woken once.
auto after_one_wake() {
  return [first = true]() mutable { return !std::exchange(first, false); };
}

WaitEnd end_of(const std::stop_token& stop, const Deadline* deadline) {
  if (stop.stop_requested()) return WaitEnd::kStopped;
  if (deadline != nullptr && deadline->clock->now() >= deadline->at) return WaitEnd::kDeadline;
  return WaitEnd::kNotified;
}

// Without memory of its own: an exception here would end the process.
void name_this_thread(const std::string& name) {
  constexpr std::size_t kMaxNameBytes = 15;
  std::array<char, kMaxNameBytes + 1> shown{};
  name.copy(shown.data(), kMaxNameBytes);
  pthread_setname_np(pthread_self(), shown.data());
}

[[noreturn]] void raise_not_started(const std::string& name, const std::error_code& why) {
  raise({.code = &kThreadStart,
         .promised = "a thread '" + name + "'",
         .found = "none: " + why.message()});
}

void ask_for_start(const std::string& name) {
  ThreadStarts* const starts = installed_thread_starts.load(std::memory_order_acquire);
  if (starts == nullptr) return;
  if (const int error_number = starts->refuse(name); error_number != 0)
    raise_not_started(name, {error_number, std::generic_category()});
}

NativeThread start(const std::string& name, NativeThread::Body body) {
  try {
    return NativeThread(std::move(body));
  } catch (const std::system_error& refusal) {
    raise_not_started(name, refusal.code());
  }
}

}  // namespace

std::atomic<Scheduler*> installed_scheduler{nullptr};
std::atomic<ThreadStarts*> installed_thread_starts{nullptr};

void ConditionVariable::notify_one() {
  native_.notify_one();
  if (Scheduler* const scheduler = scheduler_of_this_thread()) scheduler->notify_one(this);
}

void ConditionVariable::notify_all() {
  native_.notify_all();
  if (Scheduler* const scheduler = scheduler_of_this_thread()) scheduler->notify_all(this);
}

WaitEnd ConditionVariable::wait(Lock& lock, const std::stop_token& stop) {
  std::mutex& mutex = lock.mutex_.native_;
  if (Scheduler* const scheduler = scheduler_of_this_thread()) {
    mutex.unlock();
    const WaitEnd end = scheduler->wait({this, &lock.mutex_, stop, std::nullopt});
    mutex.lock();
    return end;
  }
  native_.wait(mutex, stop, after_one_wake());
  return end_of(stop, nullptr);
}

WaitEnd ConditionVariable::wait_until(Lock& lock, const std::stop_token& stop,
                                      const Deadline& deadline) {
  std::mutex& mutex = lock.mutex_.native_;
  if (Scheduler* const scheduler = scheduler_of_this_thread()) {
    mutex.unlock();
    const WaitEnd end = scheduler->wait({this, &lock.mutex_, stop, deadline.at});
    mutex.lock();
    return end;
  }
  if (deadline.clock == &system_clock()) {
    // steady_clock and system_clock() both read CLOCK_MONOTONIC.
    const std::chrono::steady_clock::time_point at(deadline.at);
    native_.wait_until(mutex, stop, at, after_one_wake());
    return end_of(stop, &deadline);
  }
  constexpr std::chrono::milliseconds kLook{1};
  native_.wait_for(mutex, stop, kLook, after_one_wake());
  return end_of(stop, &deadline);
}

Thread::Thread(const std::string& name, Body body) {
  ask_for_start(name);
  Scheduler* const scheduler = scheduler_of_this_thread();
  if (scheduler == nullptr) {
    native_ = start(name, [name, run = std::move(body)](std::stop_token stop) {
      name_this_thread(name);
      run(std::move(stop));
    });
    return;
  }
  const Scheduler::ThreadId id = scheduler->create_thread(name);
  scheduled_id_ = id;
  native_ = start(name, [name, id, scheduler, run = std::move(body)](std::stop_token stop) {
    name_this_thread(name);
    scheduler->begin_thread(id);
    run(std::move(stop));
    scheduler->end_thread(id);
  });
  scheduler->pass();
}

Thread& Thread::operator=(Thread&& other) noexcept {
  if (this == &other) return *this;
  stop_and_join();
  scheduled_id_ = other.scheduled_id_;
  native_ = std::move(other.native_);
  return *this;
}

Thread::~Thread() { stop_and_join(); }

void Thread::join() {
  Scheduler* const scheduler = scheduler_of_this_thread();
  if (scheduler != nullptr && scheduled_id_ >= 0) scheduler->await_end(scheduled_id_);
  native_.join();
}

void Thread::stop_and_join() noexcept {
  if (!native_.joinable()) return;
  native_.request_stop();
  join();
}

}  // namespace stoker
