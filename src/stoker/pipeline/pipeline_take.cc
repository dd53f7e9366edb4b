// The part of the core that the consumer calls: taking what is ready, waiting for it, giving back.
#include <utility>

#include "stoker/base/core_choice.h"
#include "stoker/pipeline/errors.h"
#include "stoker/pipeline/pipeline_core.h"

namespace stoker::pipeline {

std::optional<int> PipelineCore::consumer_core() const {
  const int core = consumer_core_.load(std::memory_order_relaxed);
  return core < 0 ? std::nullopt : std::optional(core);
}

// Workers look at it with every slot, so it is only written when it changes.
void PipelineCore::note_consumer_core() {
  const int core = current_core().value_or(-1);
  if (core != consumer_core_.load(std::memory_order_relaxed)) {
    consumer_core_.store(core, std::memory_order_relaxed);
  }
}

std::optional<Ticket> PipelineCore::next(const std::stop_token& stop) {
  note_consumer_core();
  if (std::optional<Ticket> ticket = take_ready(stop)) return ticket;
  if (std::optional<Ticket> ticket = fill_for_caller()) finish(*ticket, fill(*ticket, kCaller));
  return await_ready(stop);
}

// What is there already, without the lock and without a look at the clock.
std::optional<Ticket> PipelineCore::take_ready(const std::stop_token& stop) {
  if (stop.stop_requested() || cancelled_.load()) return std::nullopt;
  const std::uint32_t slot = find_ready();
  if (slot == kNotReady) return std::nullopt;
  const Ticket ticket = deliver(slot);
  call_for_help();
  return ticket;
}

std::uint32_t PipelineCore::find_ready() const {
  schedule_point();
  return ready_[next_deliver_.load(std::memory_order_relaxed) % ready_.size()].load(
      std::memory_order_acquire);
}

Ticket PipelineCore::deliver(std::uint32_t slot) {
  const std::uint64_t sequence = next_deliver_.load(std::memory_order_relaxed);
  // Before the number is: from then on a worker may put another slot there.
  ready_[sequence % ready_.size()].store(kNotReady, std::memory_order_relaxed);
  schedule_point();
  next_deliver_.store(sequence + 1);
  schedule_point();
  return {sequence, slot};
}

// A slot that was filled is counted before it can be delivered.
unsigned PipelineCore::num_ready() const {
  const std::uint64_t delivered = next_deliver_.load() - options_.first_sequence;
  return static_cast<unsigned>(num_filled_.load() - delivered);
}

// A worker that runs takes a core that the consumer may want: the first sleeper is woken when half
// of the slots are empty, the last one when a quarter is left. A worker that is awake goes on until
// all are full. Few slots are no buffer to wait with.
bool PipelineCore::needs_another_worker() const {
  constexpr unsigned kFewSlots = 8;
  const unsigned depth = depth_.load();
  if (depth < kFewSlots) return true;
  const unsigned num_workers = num_workers_.load();
  const unsigned num_busy = num_workers - std::min(num_workers, num_idle_.load());
  return num_ready() <= depth / 2 - depth / 4 * num_busy / std::max(1U, num_workers);
}

bool PipelineCore::wants_help() const {
  return num_idle_.load() > 0 && next_claim_.load() - next_deliver_.load() <= depth_.load() &&
         needs_another_worker();
}

// Waking a thread costs microseconds. So the consumer rings for one that is awake already, and
// wakes one itself where all sleep, or where nobody has come since it rang last.
void PipelineCore::call_for_help() {
  if (!wants_help()) return;
  schedule_point();
  const bool is_one_awake = num_idle_.load() < num_workers_.load();
  if (is_one_awake && !is_consumer_waiting_.load() && !ring()) return;
  answer();
}

void PipelineCore::answer() {
  const Lock lock(mutex_);
  collect_returned();
  give_work();
}

// Without workers the caller does the work, unless slots from earlier workers are still coming.
std::optional<Ticket> PipelineCore::fill_for_caller() {
  const Lock lock(mutex_);
  collect_returned();
  if (num_workers_ > 0 || next_claim_ != next_deliver_ || !can_claim()) return std::nullopt;
  return claim(kCaller);
}

std::optional<Ticket> PipelineCore::await_ready(const std::stop_token& stop) {
  Lock lock(mutex_);
  const std::chrono::nanoseconds asked_at = clock_.now();
  waiting_since_ = asked_at;
  is_consumer_waiting_.store(true);
  std::optional<Ticket> ticket;
  for (;;) {
    if (stop.stop_requested()) cancelled_.store(true);
    if (is_over()) break;
    const std::uint32_t slot = find_ready();
    if (slot != kNotReady) ticket = deliver(slot);
    collect_returned();
    give_work();
    if (ticket || failed_at_ <= next_deliver_) break;
    if (num_workers_ == 0 && all_leased()) {
      fail_at(next_deliver_, {.code = &kPipeLeases, .found = picture_locked()});
      continue;
    }
    consumer_.wait(lock, stop);
  }
  is_consumer_waiting_.store(false);
  waiting_since_.reset();
  consumer_wait_ += clock_.now() - asked_at;
  if (!ticket && !is_over()) raise(Error(*error_));
  return ticket;
}

// Workers find the slot when they look for one. They are called only where they had none left, or
// where the consumer is waiting: else the next take does it.
void PipelineCore::release(std::uint32_t slot) {
  returned_.give(slot);
  schedule_point();
  if (num_free_.load() == 0 || is_consumer_waiting_.load()) call_for_help();
}

}  // namespace stoker::pipeline
