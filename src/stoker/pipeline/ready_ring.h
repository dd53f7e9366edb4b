// Where workers leave filled slots and the consumer finds them by number, neither waiting for the
// other.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace stoker::pipeline {

// Precondition: numbers that are `num_slots` apart are never put at once.
class ReadyRing {
 public:
  static constexpr std::uint32_t kNotReady = std::numeric_limits<std::uint32_t>::max();

  // A power of two, so that an entry is found without a division.
  explicit ReadyRing(std::size_t num_slots) : entries_(std::bit_ceil(num_slots)) {}

  void put(std::uint64_t sequence, std::uint32_t slot) {
    // Release, paired with the acquire in find(): all that the worker wrote into the slot, and what
    // it counted before, is visible to the consumer that finds the number.
    entry(sequence).store(tag(sequence) | slot, std::memory_order_release);
  }
  // What is found stays there until the entry is put again: the reader writes nothing.
  std::uint32_t find(std::uint64_t sequence) const {
    // Acquire: see put(). Number and slot are one word, so they cannot be seen apart.
    const std::uint64_t found = entry(sequence).load(std::memory_order_acquire);
    return (found & ~kSlotMask) == tag(sequence) ? static_cast<std::uint32_t>(found) : kNotReady;
  }
  // So that find() will not have to wait for another core's memory.
  void fetch(std::uint64_t sequence) const { __builtin_prefetch(&entry(sequence)); }

 private:
  static constexpr std::size_t kCacheLine = 64;
  static constexpr std::uint64_t kSlotMask = std::numeric_limits<std::uint32_t>::max();
  // A line of its own, or putting one would take its neighbours from the consumer.
  struct alignas(kCacheLine) Entry {
    std::atomic<std::uint64_t> number_and_slot{kSlotMask};
  };

  static std::uint64_t tag(std::uint64_t sequence) { return sequence << 32U; }
  std::atomic<std::uint64_t>& entry(std::uint64_t sequence) {
    return entries_[sequence & (entries_.size() - 1)].number_and_slot;
  }
  const std::atomic<std::uint64_t>& entry(std::uint64_t sequence) const {
    return entries_[sequence & (entries_.size() - 1)].number_and_slot;
  }

  std::vector<Entry> entries_;
};

}  // namespace stoker::pipeline
