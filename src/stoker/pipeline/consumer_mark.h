// Which thread takes batches, and on which core: workers leave that core to it.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <thread>

#include "stoker/base/thread/core_choice.h"
#include "stoker/base/thread/scheduler.h"

namespace stoker::pipeline {

// Written by the consumer, read by any thread. Memory orders: relaxed throughout, because both are
// hints and nothing is read through them. A worker that sees the old core is in the way a little
// longer; a thread that wrongly takes itself for the consumer when it gives a slot back leaves the
// wake-up to the true one, which looks under the lock before it waits (PipelineCore::await_change).
class ConsumerMark {
 public:
  // Others look at these often, so they are only written when they change.
  void note_this_thread() {
    const int core = current_core().value_or(-1);
    if (core != core_.load(std::memory_order_relaxed)) {
      schedule_point();
      core_.store(core, std::memory_order_relaxed);
    }
    const std::thread::id thread = std::this_thread::get_id();
    schedule_point();
    if (thread != thread_.load(std::memory_order_relaxed)) {
      schedule_point();
      thread_.store(thread, std::memory_order_relaxed);
    }
  }
  std::optional<int> core() const {
    const int core = core_.load(std::memory_order_relaxed);
    return core < 0 ? std::nullopt : std::optional(core);
  }
  bool is_this_thread() const {
    return thread_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }

 private:
  static constexpr std::size_t kCacheLine = 64;

  alignas(kCacheLine) std::atomic<int> core_{-1};
  std::atomic<std::thread::id> thread_{};
};

}  // namespace stoker::pipeline
