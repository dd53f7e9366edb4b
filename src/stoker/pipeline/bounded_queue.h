// The one queue of the project: bounded in items and bytes, and both ends see close and stop.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "stoker/base/invariant.h"
#include "stoker/base/thread/sync.h"

namespace stoker::pipeline {

struct QueueLimits {
  std::size_t num_items = 1;
  std::uint64_t size_bytes = std::numeric_limits<std::uint64_t>::max();
};

struct QueueStats {
  std::uint64_t num_pushed = 0;
  std::uint64_t num_popped = 0;
  std::uint64_t size_bytes = 0;             // of the items waiting now
  std::chrono::nanoseconds push_blocked{};  // high: the reader is the bottleneck
  std::chrono::nanoseconds pop_blocked{};   // high: the writer is the bottleneck
};

// Any number of threads at both ends. After close() what is inside can still be popped and nothing
// more goes in; after a stop the caller whose token it is gets nothing and gives nothing. Memory
// for the items is taken once, at construction.
template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(const QueueLimits& limits) : limits_(limits), ring_(limits.num_items) {
    check_invariant(limits.num_items > 0, "a queue without room");
  }

  // Waits for room. False, and the item is gone, when closed or stopped. An item larger than the
  // byte limit is taken when the queue is empty, so that it cannot block for ever.
  bool push(T item, const std::stop_token& stop, std::uint64_t size_bytes = 0) {
    Lock lock(mutex_);
    const Stopwatch blocked;
    while (!closed_ && !has_room(size_bytes)) {
      if (room_.wait(lock, stop) == WaitEnd::kStopped) break;
    }
    stats_.push_blocked += since(blocked);
    if (closed_ || stop.stop_requested()) return false;
    ring_[(first_ + num_) % ring_.size()] = Entry{std::move(item), size_bytes};
    ++num_;
    ++stats_.num_pushed;
    stats_.size_bytes += size_bytes;
    items_.notify_one();
    return true;
  }

  // Waits for an item. Nothing when stopped, or when closed and empty.
  std::optional<T> pop(const std::stop_token& stop) {
    Lock lock(mutex_);
    const Stopwatch blocked;
    while (num_ == 0 && !closed_) {
      if (items_.wait(lock, stop) == WaitEnd::kStopped) break;
    }
    stats_.pop_blocked += since(blocked);
    if (num_ == 0 || stop.stop_requested()) return std::nullopt;
    Entry entry = std::move(*ring_[first_]);
    ring_[first_].reset();
    first_ = (first_ + 1) % ring_.size();
    --num_;
    ++stats_.num_popped;
    stats_.size_bytes -= entry.size_bytes;
    room_.notify_all();
    return std::move(entry.item);
  }

  void close() {
    const Lock lock(mutex_);
    closed_ = true;
    items_.notify_all();
    room_.notify_all();
  }

  QueueStats stats() const {
    const Lock lock(mutex_);
    return stats_;
  }

 private:
  struct Entry {
    T item;
    std::uint64_t size_bytes;
  };

  static std::chrono::nanoseconds since(const Stopwatch& watch) {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(watch.seconds() * 1e9));
  }
  bool has_room(std::uint64_t size_bytes) const STOKER_REQUIRES(mutex_) {
    if (num_ == ring_.size()) return false;
    return num_ == 0 ||
           size_bytes <= limits_.size_bytes - std::min(stats_.size_bytes, limits_.size_bytes);
  }

  const QueueLimits limits_;
  mutable Mutex mutex_;
  ConditionVariable items_;
  ConditionVariable room_;
  std::vector<std::optional<Entry>> ring_ STOKER_GUARDED_BY(mutex_);
  std::size_t first_ STOKER_GUARDED_BY(mutex_) = 0;
  std::size_t num_ STOKER_GUARDED_BY(mutex_) = 0;
  bool closed_ STOKER_GUARDED_BY(mutex_) = false;
  QueueStats stats_ STOKER_GUARDED_BY(mutex_);
};

}  // namespace stoker::pipeline
