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

  // A power of two, for finding a place without a division.
  explicit ReadyRing(std::size_t num_slots) : places_(std::bit_ceil(num_slots)) {}

  void put(std::uint64_t sequence, std::uint32_t slot) {
    place(sequence).store(tag(sequence) | slot, std::memory_order_release);
  }
  // What is found stays there until the place is put again: the reader writes nothing.
  std::uint32_t find(std::uint64_t sequence) const {
    const std::uint64_t found = place(sequence).load(std::memory_order_acquire);
    return (found & ~kSlotMask) == tag(sequence) ? static_cast<std::uint32_t>(found) : kNotReady;
  }
  // So that find() will not have to wait for another core's memory.
  void fetch(std::uint64_t sequence) const { __builtin_prefetch(&place(sequence)); }

 private:
  static constexpr std::size_t kCacheLine = 64;
  static constexpr std::uint64_t kSlotMask = std::numeric_limits<std::uint32_t>::max();
  // A line of its own, or putting one would take its neighbours from the consumer.
  struct alignas(kCacheLine) Place {
    std::atomic<std::uint64_t> number_and_slot{kSlotMask};
  };

  static std::uint64_t tag(std::uint64_t sequence) { return sequence << 32U; }
  std::atomic<std::uint64_t>& place(std::uint64_t sequence) {
    return places_[sequence & (places_.size() - 1)].number_and_slot;
  }
  const std::atomic<std::uint64_t>& place(std::uint64_t sequence) const {
    return places_[sequence & (places_.size() - 1)].number_and_slot;
  }

  std::vector<Place> places_;
};

}  // namespace stoker::pipeline
