// Slots on their way back to the workers: whoever gives one back neither locks nor wakes anybody.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "stoker/base/scheduler.h"

namespace stoker::pipeline {

// Any thread gives, one at a time takes; what was given first comes out last.
class ReturnedSlots {
 public:
  explicit ReturnedSlots(std::size_t num_slots) : before_(num_slots) {}

  void give(std::uint32_t slot) noexcept {
    std::uint32_t last = last_.load();
    do {
      before_[slot] = last;
      schedule_point();
    } while (!last_.compare_exchange_weak(last, slot));
  }

  // Calls take(slot) for each; all leave at once, so none can be met twice.
  template <class Take>
  void take_all(Take take) {
    if (last_.load() == kNone) return;
    std::uint32_t slot = last_.exchange(kNone);
    while (slot != kNone) {
      const std::uint32_t next = before_[slot];
      take(slot);
      slot = next;
    }
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::atomic<std::uint32_t> last_{kNone};
  std::vector<std::uint32_t> before_;  // each entry belongs to whoever holds its slot
};

}  // namespace stoker::pipeline
