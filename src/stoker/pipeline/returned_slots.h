// Slots on their way back to the workers: whoever gives one back takes no lock, and does not wait
// for a line of memory that another core has written.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stoker/base/thread/scheduler.h"

namespace stoker::pipeline {

// Any thread gives, one at a time looks; a look reads one byte of each slot.
class ReturnedSlots {
 public:
  explicit ReturnedSlots(std::size_t num_slots) : is_given_(num_slots) {}

  void give(std::uint32_t slot) noexcept {
    schedule_point();
    // Release, paired with the acquire in take_all(): the consumer's last read of the slot's memory
    // comes before the next worker's first write to it.
    is_given_[slot].store(true, std::memory_order_release);
  }

  // Calls take(slot) for each below `end_slot`.
  template <class Take>
  void take_all(std::uint32_t end_slot, Take take) {
    for (std::uint32_t slot = 0; slot < end_slot; ++slot) {
      if (!is_given_[slot].load(std::memory_order_acquire)) continue;
      // Relaxed: the slot can be given again only after it was filled and found in the ReadyRing,
      // and that pair of operations orders this store before the next give().
      is_given_[slot].store(false, std::memory_order_relaxed);
      take(slot);
    }
  }

 private:
  std::vector<std::atomic<bool>> is_given_;
};

}  // namespace stoker::pipeline
