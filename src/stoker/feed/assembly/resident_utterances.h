// Which utterances stay in GPU memory (cache tier gpu), and where: workers skip reading those.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace stoker::feed {

// Utterances reach the GPU with the first batch that holds them, so the set fills while batches
// flow. Batches reach the GPU in the order of their sequence numbers: a worker need not read an
// utterance that an earlier batch brings.
//
// Threads: workers call is_before() and will_be(); everything else belongs to the one thread that
// copies, and restart() runs while no worker does.
//
// Memory order: a number in brought_by_ says that the read for that batch has succeeded, so it is
// written with release after the read and read with acquire. The bytes themselves do not pass
// through it: the pipeline hands batches to the copying thread in order, and that hand-over
// synchronises.
class ResidentUtterances {
 public:
  struct Place {
    std::int64_t begin = -1;  // in samples or frames of the pool; -1: not there
    std::int32_t length = 0;
  };

  explicit ResidentUtterances(std::size_t num_utterances)
      : brought_by_(std::make_unique<std::atomic<std::uint64_t>[]>(num_utterances)),
        places_(num_utterances) {
    for (std::size_t i = 0; i < num_utterances; ++i) brought_by_[i] = kNever;
  }

  // Whether a batch before `sequence` brings the utterance or has brought it.
  bool is_before(std::uint32_t utterance, std::uint64_t sequence) const {
    const std::uint64_t brought = brought_by_[utterance].load(std::memory_order_acquire);
    return brought == kAlways || brought < sequence;
  }
  // The batch `sequence` has read the utterance and brings it.
  void will_be(std::uint32_t utterance, std::uint64_t sequence) {
    std::uint64_t known = brought_by_[utterance].load(std::memory_order_relaxed);
    while (sequence < known && !brought_by_[utterance].compare_exchange_weak(
                                   known, sequence, std::memory_order_release)) {
    }
  }

  const Place& place(std::uint32_t utterance) const { return places_[utterance]; }
  bool is_here(std::uint32_t utterance) const { return places_[utterance].begin >= 0; }
  void put(std::uint32_t utterance, const Place& place) { places_[utterance] = place; }

  // Before a new run of sequence numbers, while no worker runs: what is here stays.
  void restart() {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      brought_by_[i] = places_[i].begin >= 0 ? kAlways : kNever;
    }
  }

 private:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::uint64_t kAlways = kNever - 1;

  std::unique_ptr<std::atomic<std::uint64_t>[]> brought_by_;
  std::vector<Place> places_;
};

}  // namespace stoker::feed
