// Lets a consumer ask for another worker without the system call that waking one costs.
#pragma once

#include <atomic>

namespace stoker::pipeline {

// The consumer rings, a worker that is awake answers between two items of its own work.
class WakeRequest {
 public:
  virtual ~WakeRequest() = default;

  // Returns whether nobody has answered the ring before this one.
  bool ring() noexcept { return rung_.load() || rung_.exchange(true); }
  void answer_if_rung() {
    if (rung_.load(std::memory_order_relaxed)) [[unlikely]]
      answer();
  }

 protected:
  void silence() noexcept {
    if (rung_.load(std::memory_order_relaxed)) rung_.store(false);
  }
  virtual void answer() = 0;

 private:
  std::atomic<bool> rung_{false};
};

}  // namespace stoker::pipeline
