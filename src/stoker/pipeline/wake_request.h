// Lets a consumer ask for another worker without the system call that waking one costs.
#pragma once

#include <atomic>

namespace stoker::pipeline {

// The consumer posts a request; a worker that is awake serves it between two items of its own work.
//
// Memory orders: the flag carries no data. Whoever serves it takes the pipeline's lock and decides
// on what it finds there, so a flag that is seen late, or not at all, delays a wake-up and never
// loses one: the consumer's second post() finds the first unserved, and a consumer that has to wait
// wakes workers itself, under the lock. A worker looks at every item, hence its relaxed load.
class WakeRequest {
 public:
  virtual ~WakeRequest() = default;

  // Returns whether an earlier request is still unserved. The load in front of the exchange leaves
  // the cache line shared where the flag is set already.
  bool post() noexcept { return is_posted_.load() || is_posted_.exchange(true); }
  void serve_if_posted() {
    if (is_posted_.load(std::memory_order_relaxed)) [[unlikely]]
      wake_workers();
  }

 protected:
  // Called by wake_workers() under the pipeline's lock; writes only where there is something to
  // clear, because every worker reads this line.
  void clear_request() noexcept {
    if (is_posted_.load(std::memory_order_relaxed)) is_posted_.store(false);
  }
  virtual void wake_workers() = 0;

 private:
  std::atomic<bool> is_posted_{false};
};

}  // namespace stoker::pipeline
