#include "stoker/pipeline/slot_table.h"

#include <algorithm>

namespace stoker::pipeline {

SlotTable::SlotTable(SlotRing& ring) : ring_(ring), slots_(ring.num_slots()) {
  free_.reserve(slots_.size());
  open_slots();
}

bool SlotTable::can_claim() {
  if (!ring_.has_room() || ring_.next_claim() >= end_) return false;
  const std::uint64_t head = ring_.head();
  if (free_.empty() || head != collected_at_) collect_returned();
  collected_at_ = head;
  ring_.set_short_of_slots(free_.empty());
  return !free_.empty();
}

unsigned SlotTable::num_claimable() {
  if (!can_claim()) return 0;
  const auto window =
      static_cast<unsigned>(ring_.depth() + 1 - (ring_.next_claim() - ring_.head()));
  return std::min(window, static_cast<unsigned>(free_.size()));
}

Ticket SlotTable::claim(unsigned worker) {
  const Ticket ticket{ring_.claim_number(), free_.back()};
  free_.pop_back();
  slots_[ticket.slot] = {SlotState::kFilling, ticket.sequence, worker};
  return ticket;
}

void SlotTable::put(const Ticket& ticket) {
  slots_[ticket.slot].state = SlotState::kFilled;
  ring_.put(ticket);
}

void SlotTable::close_at(std::uint64_t sequence) { end_ = std::min(end_, sequence); }

void SlotTable::set_depth(unsigned depth) {
  ring_.set_depth(depth);
  open_slots();
}

void SlotTable::collect_returned() {
  ring_.take_returned(end_slot_, [this](std::uint32_t slot) { make_free(slot); });
}

void SlotTable::make_free(std::uint32_t slot) {
  // The depth may have been lowered meanwhile: slots beyond it are not used again.
  const bool still_used = slot < ring_.depth() + 2;
  slots_[slot].state = still_used ? SlotState::kFree : SlotState::kUnused;
  if (still_used) free_.push_back(slot);
}

void SlotTable::open_slots() {
  const std::uint32_t num_used = ring_.depth() + 2;
  std::erase_if(free_, [&](std::uint32_t slot) {
    const bool beyond = slot >= num_used;
    if (beyond) slots_[slot].state = SlotState::kUnused;
    return beyond;
  });
  end_slot_ = std::max(end_slot_, num_used);
  for (std::uint32_t slot = num_used; slot-- > 0;) {
    if (slots_[slot].state != SlotState::kUnused) continue;
    slots_[slot].state = SlotState::kFree;
    free_.push_back(slot);
  }
}

std::string SlotTable::debug_string(const Describe& filling) const {
  std::string text;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (slot.state == SlotState::kUnused) continue;
    text += (text.empty() ? "slot " : ", slot ") + std::to_string(i);
    const std::string number = " (" + std::to_string(slot.sequence) + ")";
    if (slot.state == SlotState::kFree) text += " free";
    if (slot.state == SlotState::kFilled) {
      text += (slot.sequence < ring_.next_deliver() ? " leased" : " ready") + number;
    }
    if (slot.state == SlotState::kFilling) text += " " + filling(slot.worker) + number;
  }
  return text;
}

}  // namespace stoker::pipeline
