// Where a feed is in its order: moved by the consumer, read by any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "stoker/feed/feed_state.h"

namespace stoker::feed {

// A seqlock, as a batch is taken millions of times for each time that somebody else asks. Memory
// orders: the mark is odd while both numbers change, and they are stored with release and loaded
// with acquire, so whoever has read a number of the next place also sees its odd mark.
class FeedPlace {
 public:
  // The consumer: one thread at a time.
  void set(const FeedPosition& at) noexcept {
    const std::uint64_t mark = mark_.load(std::memory_order_relaxed);
    mark_.store(mark + 1, std::memory_order_relaxed);
    epoch_.store(at.epoch, std::memory_order_release);
    batch_.store(at.batch, std::memory_order_release);
    mark_.store(mark + 2, std::memory_order_release);
  }
  void to_next_batch() noexcept {
    batch_.store(batch_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  // Any thread; waits for as long as set() takes.
  FeedPosition now() const noexcept {
    for (;;) {
      const std::uint64_t mark = mark_.load(std::memory_order_acquire);
      const FeedPosition at{epoch_.load(std::memory_order_acquire),
                            batch_.load(std::memory_order_acquire)};
      if (mark % 2 == 0 && mark_.load(std::memory_order_relaxed) == mark) return at;
    }
  }

 private:
  std::atomic<std::uint64_t> mark_{0};
  std::atomic<std::uint64_t> epoch_{0};
  std::atomic<std::uint64_t> batch_{0};
};

}  // namespace stoker::feed
