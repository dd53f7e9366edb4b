// The part of the core that the consumer calls: taking what is ready, waiting for it, giving back.
#include <utility>

#include "stoker/base/thread/core_choice.h"
#include "stoker/pipeline/errors.h"
#include "stoker/pipeline/pipeline_core.h"

namespace stoker::pipeline {

std::optional<int> PipelineCore::consumer_core() const {
  const int core = consumer_core_.load(std::memory_order_relaxed);
  return core < 0 ? std::nullopt : std::optional(core);
}

// Others look at these often, so they are only written when they change.
void PipelineCore::note_consumer() {
  const int core = current_core().value_or(-1);
  if (core != consumer_core_.load(std::memory_order_relaxed)) {
    schedule_point();
    consumer_core_.store(core, std::memory_order_relaxed);
  }
  const std::thread::id thread = std::this_thread::get_id();
  schedule_point();
  if (thread != consumer_thread_.load(std::memory_order_relaxed)) {
    schedule_point();
    consumer_thread_.store(thread, std::memory_order_relaxed);
  }
}

std::optional<Ticket> PipelineCore::next(const std::stop_token& stop) {
  if (std::optional<Ticket> ticket = take_ready(stop)) return ticket;
  note_consumer();
  return await_ready(stop);
}

// What is there already, without the lock and without a look at the clock.
std::optional<Ticket> PipelineCore::take_ready(const std::stop_token& stop) {
  if (stop.stop_requested() || cancelled_.load(std::memory_order_relaxed)) return std::nullopt;
  const std::uint32_t slot = find_ready();
  if (slot == ReadyRing::kNotReady) return std::nullopt;
  const Ticket ticket = deliver(slot);
  // In groups: a line of memory that other cores look at is slow to write, and they would look at
  // it, and for the slots given back, each time.
  constexpr unsigned kGroupsOfDepth = 8;
  const std::uint64_t num_untold =
      ticket.sequence + 1 - published_head_.load(std::memory_order_relaxed);
  if (num_untold * kGroupsOfDepth >= depth_.load(std::memory_order_relaxed)) {
    note_consumer();
    tell_workers();
    call_for_help();
  }
  return ticket;
}

std::uint32_t PipelineCore::find_ready() const {
  schedule_point();
  return ready_.find(next_deliver_.load(std::memory_order_relaxed));
}

Ticket PipelineCore::deliver(std::uint32_t slot) {
  const std::uint64_t sequence = next_deliver_.load(std::memory_order_relaxed);
  schedule_point();
  next_deliver_.store(sequence + 1, std::memory_order_relaxed);
  schedule_point();
  ready_.fetch(sequence + 2);
  return {sequence, slot};
}

// Never backwards: a thread that has handed over to another consumer may tell an older number after
// the new one has told its own, and then nobody would wake it.
void PipelineCore::tell_workers() {
  schedule_point();
  const std::uint64_t next = next_deliver_.load(std::memory_order_relaxed);
  schedule_point();
  std::uint64_t told = published_head_.load(std::memory_order_relaxed);
  schedule_point();
  while (told < next && !published_head_.compare_exchange_weak(
                            told, next, std::memory_order_release, std::memory_order_relaxed)) {
  }
  schedule_point();
}

std::optional<std::uint32_t> PipelineCore::peek() const {
  const std::uint32_t slot = find_ready();
  return slot == ReadyRing::kNotReady ? std::nullopt : std::optional(slot);
}

// A slot that was filled is counted before it can be delivered.
unsigned PipelineCore::num_ready() const {
  const std::uint64_t delivered = published_head_.load() - options_.first_sequence;
  schedule_point();
  return static_cast<unsigned>(num_filled_.load() - delivered);
}

// A worker that runs takes a core that the consumer may want: the first sleeper is woken when half
// of the slots are empty, the last one when a quarter is left. A worker that is awake goes on until
// all are full. Few slots are no buffer to wait with.
bool PipelineCore::needs_another_worker() const {
  constexpr unsigned kFewSlots = 8;
  const unsigned depth = depth_.load();
  if (depth < kFewSlots) return true;
  schedule_point();
  const unsigned num_workers = num_workers_.load();
  const unsigned num_busy = num_workers - std::min(num_workers, num_idle_.load());
  return num_ready() <= depth / 2 - depth / 4 * num_busy / std::max(1U, num_workers);
}

bool PipelineCore::wants_help() const {
  return num_idle_.load() > 0 && next_claim_.load() - published_head_.load() <= depth_.load() &&
         needs_another_worker();
}

// Waking a thread costs microseconds. So the consumer rings for one that is awake already, and
// wakes one itself where all sleep, or where nobody has come since it rang last. What it sees of
// the workers may be a moment old: then the next take calls, or await_ready().
void PipelineCore::call_for_help() {
  if (!wants_help()) return;
  schedule_point();
  const bool is_one_awake = num_idle_.load() < num_workers_.load();
  schedule_point();
  if (is_one_awake && !ring()) return;
  answer();
}

void PipelineCore::answer() {
  const Lock lock(mutex_);
  give_work();
}

// Without workers the caller does the work, unless slots from earlier workers are still coming. The
// last worker may also go while the caller waits for it.
bool PipelineCore::fill_for_caller(Lock& lock) {
  if (num_workers_ > 0 || next_claim_ != next_deliver_ || !can_claim()) return false;
  const Ticket ticket = claim(kCaller);
  end_wait();
  lock.unlock();
  finish(ticket, fill(ticket, kCaller));
  lock.lock();
  waiting_since_ = clock_.now();
  return true;
}

void PipelineCore::end_wait() {
  consumer_wait_ += clock_.now() - *waiting_since_;
  waiting_since_.reset();
}

std::optional<Ticket> PipelineCore::await_ready(const std::stop_token& stop) {
  Lock lock(mutex_);
  waiting_since_ = clock_.now();
  num_waiting_.fetch_add(1);
  std::optional<Ticket> ticket;
  for (;;) {
    if (stop.stop_requested()) cancelled_.store(true);
    if (is_over()) break;
    const std::uint32_t slot = find_ready();
    if (slot != ReadyRing::kNotReady) ticket = deliver(slot);
    tell_workers();
    give_work();
    if (ticket || failed_at_ <= next_deliver_) break;
    if (fill_for_caller(lock)) continue;
    if (num_workers_ == 0 && all_leased()) {
      fail_at(next_deliver_, {.code = &kPipeLeases, .found = picture_locked()});
      continue;
    }
    await_change(lock, stop);
  }
  num_waiting_.fetch_sub(1);
  end_wait();
  if (!ticket && !is_over()) raise(Error(*error_));
  return ticket;
}

// With every slot leased nobody works, so nobody would say that one came back unseen: from a thread
// that took itself for the consumer.
void PipelineCore::await_change(Lock& lock, const std::stop_token& stop) {
  constexpr std::chrono::milliseconds kLook{1};
  if (all_leased()) {
    consumer_.wait_until(lock, stop, Deadline::after(clock_, kLook));
  } else {
    consumer_.wait(lock, stop);
  }
}

// Workers find the slot when they need one. The consumer calls them with its next take, unless they
// had to stop for want of a slot; other threads call them where the consumer is waiting.
void PipelineCore::release(std::uint32_t slot) {
  returned_.give(slot);
  schedule_point();
  if (consumer_thread_.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
    schedule_point();
    if (!is_short_of_slots_.load(std::memory_order_relaxed)) return;
    tell_workers();
    call_for_help();
  } else if (num_waiting_.fetch_add(0) > 0) {
    answer();
  } else {
    call_for_help();
  }
}

}  // namespace stoker::pipeline
