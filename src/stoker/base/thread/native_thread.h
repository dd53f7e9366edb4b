// A thread of the system whose stack belongs to stoker, because the C library aborts where it
// cannot give one back.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <functional>
#include <stop_token>
#include <utility>

namespace stoker {

// Memory for a stack; below it a page that nothing may touch.
class ThreadStack {
 public:
  ThreadStack() = default;
  // Throws std::system_error (EAGAIN, as pthread_create reports it) without room for it.
  explicit ThreadStack(std::size_t size_bytes);
  ThreadStack(ThreadStack&& other) noexcept
      : at_(std::exchange(other.at_, nullptr)), size_bytes_(other.size_bytes_) {}
  ThreadStack& operator=(ThreadStack&& other) noexcept;
  ~ThreadStack();

  void* begin() const noexcept;
  std::size_t size_bytes() const noexcept;

 private:
  std::byte* at_ = nullptr;
  std::size_t size_bytes_ = 0;  // with the page below
};

// What sync.h needs of std::jthread. A C library frees the stacks of ended threads when it holds
// many, and ends the process when the kernel refuses that, as it does at vm.max_map_count. An
// exception that leaves the body ends the process.
class NativeThread {
 public:
  using Body = std::function<void(std::stop_token)>;

  NativeThread() = default;
  // Throws std::system_error when the system starts no thread.
  explicit NativeThread(Body body);
  NativeThread(NativeThread&& other) noexcept;
  NativeThread& operator=(NativeThread&& other) noexcept;  // only onto one that is not joinable
  ~NativeThread();                                         // must not be joinable

  bool joinable() const noexcept { return joinable_; }
  bool request_stop() noexcept { return stop_.request_stop(); }
  std::stop_token get_stop_token() const noexcept { return stop_.get_token(); }
  void join() noexcept;

 private:
  ThreadStack stack_;
  std::stop_source stop_{std::nostopstate};
  pthread_t handle_{};
  bool joinable_ = false;
};

}  // namespace stoker
