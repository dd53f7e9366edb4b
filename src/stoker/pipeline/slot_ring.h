// The numbers and slots that consumer and workers hand to each other: the consumer's side takes no
// lock, because a worker that the system has stopped while it held one would stop the consumer too.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "stoker/base/thread/scheduler.h"
#include "stoker/pipeline/ready_ring.h"
#include "stoker/pipeline/returned_slots.h"
#include "stoker/pipeline/slot_filler.h"

namespace stoker::pipeline {

// Numbers run through three marks: published_head <= next_deliver <= next_claim. Below the head
// everything was delivered as far as the workers know; up to next_deliver the consumer has it; up
// to next_claim somebody fills it or it is ready.
//
// One consumer at a time; who hands over to another thread synchronises with it, as for any object.
// Claimers call one at a time, under the pipeline's lock. Anybody may give a slot back and read the
// counts. docs/decisions/take-without-a-lock.md is the overview.
class SlotRing {
 public:
  struct Range {
    std::uint64_t first_sequence = 0;
    unsigned depth = 2;
    unsigned max_depth = 64;
  };
  explicit SlotRing(const Range& range)
      : first_sequence_(range.first_sequence),
        num_slots_(range.max_depth + 2),
        returned_(num_slots_),
        ready_(num_slots_),
        published_head_(range.first_sequence),
        next_deliver_(range.first_sequence),
        next_claim_(range.first_sequence),
        depth_(range.depth) {}

  std::uint32_t num_slots() const { return num_slots_; }

  // --- The consumer, without a lock.

  // The slot of the next number, or ReadyRing::kNotReady.
  std::uint32_t find_ready() const {
    schedule_point();
    return ready_.find(next_deliver());
  }
  // Filled and not yet delivered, in any order. Relaxed: the count was raised before the slot could
  // be found (put()), so it is never below what the consumer has taken.
  unsigned num_behind() const {
    return static_cast<unsigned>(num_filled_.load(std::memory_order_relaxed) - num_delivered());
  }
  // Precondition: find_ready() gave `slot`.
  Ticket deliver(std::uint32_t slot) {
    const std::uint64_t sequence = next_deliver();
    schedule_point();
    // Relaxed: only the consumer writes it. Workers go by published_head_; statistics and messages
    // read it for information.
    next_deliver_.store(sequence + 1, std::memory_order_relaxed);
    schedule_point();
    ready_.fetch(sequence + 2);
    return {sequence, slot, false};
  }
  // Whether so much was taken since the last publish_head() that workers should know. In groups of
  // an eighth of the depth: a line of memory that other cores look at is slow to write, and they
  // would look at it, and for the slots given back, each time.
  bool is_group_taken(std::uint64_t last_sequence) const {
    constexpr unsigned kGroupsOfDepth = 8;
    // Relaxed: the consumer's own earlier write, or an older one, which makes the group end sooner.
    const std::uint64_t num_unpublished =
        last_sequence + 1 - published_head_.load(std::memory_order_relaxed);
    return num_unpublished * kGroupsOfDepth >= depth_.load(std::memory_order_relaxed);
  }
  // Lets workers claim numbers further on. The head never moves backwards: a thread that has handed
  // over to another consumer may publish an older number after the new one has published its own,
  // and then nobody would wake the workers.
  void publish_head() {
    schedule_point();
    const std::uint64_t next = next_deliver();
    schedule_point();
    std::uint64_t head = published_head_.load(std::memory_order_relaxed);
    schedule_point();
    // Release, paired with the acquire of head(): the consumer acquired every number below `next`
    // in the ReadyRing, and the worker had counted it in num_filled_ and next_claim_ before. So who
    // sees this head also sees those counts at least as large, and the differences in num_ready()
    // and has_room() do not wrap. Nothing is lost where a claimer sees it late: a consumer that has
    // to wait publishes again under the lock.
    while (head < next && !published_head_.compare_exchange_weak(
                              head, next, std::memory_order_release, std::memory_order_relaxed)) {
    }
    schedule_point();
  }

  // --- Any thread.

  void give_back(std::uint32_t slot) noexcept { returned_.give(slot); }
  // Claimers stopped for want of a slot. Relaxed: a hint. A giver that reads it before the claimer
  // has set it leaves a slot that the claimer did not see; the consumer's next take, or its wait
  // under the lock, finds it.
  bool is_short_of_slots() const { return is_short_of_slots_.load(std::memory_order_relaxed); }

  // Relaxed: see deliver().
  std::uint64_t next_deliver() const { return next_deliver_.load(std::memory_order_relaxed); }
  // Acquire (the default order includes it): see publish_head().
  std::uint64_t head() const { return published_head_.load(); }
  // next_claim, num_filled and depth change under the lock only. Without it they are hints, in the
  // default order: what they are used for is decided again by whoever takes the lock next.
  std::uint64_t next_claim() const { return next_claim_.load(); }
  unsigned depth() const { return depth_.load(); }
  std::uint64_t num_delivered() const { return next_deliver() - first_sequence_; }
  // Whether a further number may be claimed, slots aside.
  bool has_room() const { return next_claim() - head() <= depth(); }
  // Filled and not yet delivered, in any order, as far as the head was published. The head is read
  // first: see publish_head().
  unsigned num_ready() const {
    const std::uint64_t delivered = head() - first_sequence_;
    schedule_point();
    return static_cast<unsigned>(num_filled_.load() - delivered);
  }
  bool is_ready(std::uint64_t sequence) const {
    return ready_.find(sequence) != ReadyRing::kNotReady;
  }

  // --- Claimers, under the pipeline's lock.

  std::uint64_t claim_number() { return next_claim_++; }
  // Counted before it can be found: see publish_head().
  void put(const Ticket& ticket) {
    ++num_filled_;
    schedule_point();
    ready_.put(ticket.sequence, ticket.slot);
  }
  template <class Take>
  void take_returned(std::uint32_t end_slot, Take take) {
    returned_.take_all(end_slot, take);
  }
  void set_depth(unsigned depth) { depth_ = depth; }
  void set_short_of_slots(bool is_short) { is_short_of_slots_.store(is_short); }

 private:
  static constexpr std::size_t kCacheLine = 64;

  const std::uint64_t first_sequence_;
  const std::uint32_t num_slots_;
  ReturnedSlots returned_;
  ReadyRing ready_;
  // A line each for what the consumer writes rarely, what it writes with every take, what claimers
  // write with every slot, and what hardly changes.
  alignas(kCacheLine) std::atomic<std::uint64_t> published_head_;
  alignas(kCacheLine) std::atomic<std::uint64_t> next_deliver_;
  alignas(kCacheLine) std::atomic<std::uint64_t> next_claim_;
  std::atomic<std::uint64_t> num_filled_{0};
  alignas(kCacheLine) std::atomic<unsigned> depth_;
  std::atomic<bool> is_short_of_slots_{false};
};

}  // namespace stoker::pipeline
