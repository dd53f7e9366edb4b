// Who has which slot, and which one is claimed next: the workers' side of the slot ring.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "stoker/pipeline/slot_filler.h"
#include "stoker/pipeline/slot_ring.h"

namespace stoker::pipeline {

// Not thread-safe: belongs to whoever holds the pipeline's lock. The ring must outlive it.
class SlotTable {
 public:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  explicit SlotTable(SlotRing& ring);

  // Looks for slots given back where it has none left, and whenever the head has moved: so few go
  // round whose memory is near, and the consumer rarely waits for a line that is read here.
  bool can_claim();
  // Numbers that could be claimed now.
  unsigned num_claimable();
  // Number and slot are taken together, so the oldest unfinished number always has a slot.
  // Precondition: can_claim().
  Ticket claim(unsigned worker);
  // Ends a claim: with a filled slot, or without.
  void put(const Ticket& ticket);
  void drop(const Ticket& ticket) { make_free(ticket.slot); }

  // No number from there on is claimed.
  void close_at(std::uint64_t sequence);
  // Slots 0 … depth + 1 are in use from now on.
  void set_depth(unsigned depth);
  void collect_returned();
  // Every slot is with the consumer: nobody fills one and none is ready, as far as was published.
  bool all_leased() const { return ring_.next_claim() == ring_.head() && free_.empty(); }

  // "slot 0 leased (12), slot 1 ready (13), slot 2 … (14), slot 3 free"; `filling` says what a
  // worker is doing with its slot.
  using Describe = std::function<std::string(unsigned worker)>;
  std::string debug_string(const Describe& filling) const;

 private:
  // Filled ones wait until they are delivered, then they are leased.
  enum class SlotState { kUnused, kFree, kFilling, kFilled };
  struct Slot {
    SlotState state = SlotState::kUnused;
    std::uint64_t sequence = 0;
    unsigned worker = 0;
  };

  void open_slots();
  void make_free(std::uint32_t slot);

  SlotRing& ring_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;  // a stack
  std::uint64_t collected_at_ = 0;   // the head at the last look
  std::uint32_t end_slot_ = 0;       // no slot from there on was ever used
  std::uint64_t end_ = kNever;
};

}  // namespace stoker::pipeline
