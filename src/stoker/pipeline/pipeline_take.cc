// The part of the core that the consumer calls: taking what is ready, waiting for it, giving back.
#include <algorithm>

#include "stoker/pipeline/errors.h"
#include "stoker/pipeline/pipeline_core.h"

namespace stoker::pipeline {

std::optional<Ticket> PipelineCore::next(const std::stop_token& stop, const WaitPause* pause) {
  if (std::optional<Ticket> ticket = take_ready(stop)) return ticket;
  consumer_mark_.note_this_thread();
  std::optional<Ticket> ticket = await_ready(stop, pause);
  if (ticket) ticket->is_late = true;
  return ticket;
}

// What is there already, without the lock and without a look at the clock.
std::optional<Ticket> PipelineCore::take_ready(const std::stop_token& stop) {
  if (stop.stop_requested() || cancelled_.load(std::memory_order_relaxed)) return std::nullopt;
  const std::uint32_t slot = ring_.find_ready();
  if (slot == ReadyRing::kNotReady) return std::nullopt;
  const Ticket ticket = ring_.deliver(slot);
  if (ring_.is_group_taken(ticket.sequence)) {
    consumer_mark_.note_this_thread();
    ring_.publish_head();
    request_worker();
  }
  return ticket;
}

std::optional<std::uint32_t> PipelineCore::peek() const {
  const std::uint32_t slot = ring_.find_ready();
  return slot == ReadyRing::kNotReady ? std::nullopt : std::optional(slot);
}

// A worker that runs takes a core that the consumer may want: the first sleeper is woken when half
// of the slots are empty, the last one when a quarter is left. A worker that is awake goes on until
// all are full. Few slots are no buffer to wait with.
bool PipelineCore::needs_another_worker() const {
  constexpr unsigned kFewSlots = 8;
  const unsigned depth = ring_.depth();
  if (depth < kFewSlots) return true;
  schedule_point();
  const unsigned num_workers = worker_counts_.num_workers;
  const unsigned num_busy = num_workers - std::min(num_workers, worker_counts_.num_idle.load());
  return ring_.num_ready() <= depth / 2 - depth / 4 * num_busy / std::max(1U, num_workers);
}

// Waking a thread costs microseconds. So the consumer posts a request for one that is awake
// already, and wakes one itself where all sleep, or where nobody has served the last request. What
// it sees of the workers may be a moment old: then the next take asks, or await_ready().
void PipelineCore::request_worker() {
  if (worker_counts_.num_idle == 0 || !ring_.has_room() || !needs_another_worker()) return;
  schedule_point();
  const bool is_one_awake = worker_counts_.num_idle < worker_counts_.num_workers;
  schedule_point();
  if (is_one_awake && !post()) return;
  wake_workers();
}

// Without workers the caller does the work, unless slots from earlier workers are still coming. The
// last worker may also go while the caller waits for it.
bool PipelineCore::fill_for_caller(Lock& lock) {
  if (num_workers() > 0 || ring_.next_claim() != ring_.next_deliver() || !slots_.can_claim()) {
    return false;
  }
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

// What the consumer saw of the workers without the lock may have been a moment old; under it that
// ends, so no wake-up is lost.
std::optional<Ticket> PipelineCore::await_ready(const std::stop_token& stop,
                                                const WaitPause* pause) {
  Lock lock(mutex_);
  waiting_since_ = clock_.now();
  if (pause != nullptr) next_pause_ = *waiting_since_ + pause->every;
  num_waiting_.fetch_add(1);  // see release()
  std::optional<Ticket> ticket;
  bool goes_on = true;
  while (goes_on) {
    if (stop.stop_requested()) cancel_locked();
    if (is_over()) break;
    const std::uint32_t slot = ring_.find_ready();
    if (slot != ReadyRing::kNotReady) ticket = ring_.deliver(slot);
    ring_.publish_head();
    call_workers();
    if (ticket || failed_at_ <= ring_.next_deliver()) break;
    if (fill_for_caller(lock)) continue;
    if (num_workers() == 0 && slots_.all_leased()) {
      fail_at(ring_.next_deliver(), {.code = &kPipeLeases, .found = debug_string_locked()});
      continue;
    }
    goes_on = await_change(lock, stop, pause);
  }
  num_waiting_.fetch_sub(1);
  end_wait();
  if (!ticket && goes_on && !is_over()) raise(Error(*error_));
  return ticket;
}

// With every slot leased nobody works, so nobody would notice that one came back unseen: from a
// thread that took itself for the consumer.
bool PipelineCore::await_change(Lock& lock, const std::stop_token& stop, const WaitPause* pause) {
  constexpr std::chrono::milliseconds kLook{1};
  const std::chrono::nanoseconds now = clock_.now();
  if (pause != nullptr && now >= next_pause_) {
    next_pause_ = now + pause->every;
    lock.unlock();
    const bool goes_on = pause->go_on();
    lock.lock();
    return goes_on;
  }
  if (slots_.all_leased()) {
    consumer_.wait_until(lock, stop, Deadline::after(clock_, kLook));
  } else if (pause != nullptr) {
    consumer_.wait_until(lock, stop, {&clock_, next_pause_});
  } else {
    consumer_.wait(lock, stop);
  }
  return true;
}

// Workers find the slot when they need one. The consumer asks for them with its next take, unless
// they had to stop for want of a slot; other threads wake them where the consumer is waiting.
void PipelineCore::release(std::uint32_t slot) {
  ring_.give_back(slot);
  schedule_point();
  if (consumer_mark_.is_this_thread()) {
    schedule_point();
    if (!ring_.is_short_of_slots()) return;
    ring_.publish_head();
    request_worker();
    // An addition of nothing, in the default order: it and the waiter's own addition have one
    // order. Coming first, it releases the slot given back above to the waiter, which then looks
    // for slots under the lock; coming second, it sees the waiter. A plain load could do neither.
  } else if (num_waiting_.fetch_add(0) > 0) {
    wake_workers();
  } else {
    request_worker();
  }
}

}  // namespace stoker::pipeline
