// What a feed has delivered so far: counted by the consumer without a lock, read by any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "stoker/feed/assembly/batch_slot.h"
#include "stoker/feed/feed.h"

namespace stoker::feed {

// One thread adds at a time.
class FeedTotals {
 public:
  void add(const BatchSums& sums) {
    add_to(num_batches_, 1);
    add_to(num_clips_, sums.num_clips);
    add_to(true_frames_, sums.true_frames);
    add_to(all_frames_, sums.all_frames);
    add_to(num_empty_bad_, sums.num_empty_bad);
  }

  // Each number is exact; together they may be one batch apart.
  FeedStats now() const {
    FeedStats stats;
    stats.num_batches = num_batches_.load(std::memory_order_relaxed);
    stats.num_clips = num_clips_.load(std::memory_order_relaxed);
    stats.true_frames = true_frames_.load(std::memory_order_relaxed);
    stats.all_frames = all_frames_.load(std::memory_order_relaxed);
    stats.num_empty_bad = num_empty_bad_.load(std::memory_order_relaxed);
    return stats;
  }

 private:
  using Count = std::atomic<std::uint64_t>;
  static void add_to(Count& count, std::uint64_t more) {
    count.store(count.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }

  Count num_batches_{0}, num_clips_{0}, true_frames_{0}, all_frames_{0}, num_empty_bad_{0};
};

}  // namespace stoker::feed
