#include "stoker/pipeline/pipeline_core.h"

#include <algorithm>
#include <new>
#include <thread>
#include <utility>

#include "stoker/base/core_choice.h"
#include "stoker/base/invariant.h"
#include "stoker/pipeline/errors.h"

namespace stoker::pipeline {

PipelineCore::PipelineCore(std::shared_ptr<SlotFiller> filler, const PipelineOptions& options)
    : filler_(std::move(filler)),
      options_(options),
      clock_(*options.clock),
      activities_(std::make_unique<Activity[]>(options.max_workers + 1)),
      slots_(options.max_depth + 2),
      ready_(options.max_depth + 2, kNotReady),
      num_workers_(options.num_workers),
      depth_(options.depth),
      next_claim_(options.first_sequence),
      next_deliver_(options.first_sequence) {
  check_invariant(filler_->stages().size() <= kMaxStages, "at most kMaxStages stages");
  const Lock lock(mutex_);
  for (unsigned i = 0; i < options.max_workers; ++i) {
    workers_.push_back(std::make_unique<Worker>());
    workers_.back()->index = i;
  }
  free_.reserve(slots_.size());
  open_slots();
}

std::uint32_t& PipelineCore::ready_slot(std::uint64_t sequence) {
  return ready_[sequence % ready_.size()];
}

bool PipelineCore::can_claim() const {
  return !free_.empty() && next_claim_ - next_deliver_ < depth_ + 1 &&
         next_claim_ < std::min(end_, failed_at_) && !cancelled_;
}

// Sequence number and slot are taken together, so the oldest unfinished number always has a slot.
Ticket PipelineCore::claim(unsigned worker) {
  const Ticket ticket{next_claim_++, free_.back()};
  free_.pop_back();
  if (worker != kCaller) ++workers_[worker]->num_claims;
  slots_[ticket.slot] = {SlotState::kFilling, ticket.sequence, worker};
  return ticket;
}

void PipelineCore::mark_idle(Worker& worker) {
  if (!worker.is_idle) ++num_idle_;
  worker.is_idle = true;
}

void PipelineCore::mark_busy(Worker& worker) {
  if (worker.is_idle) --num_idle_;
  worker.is_idle = false;
}

// The first few workers share the work evenly; those behind them help when these are all busy.
PipelineCore::Worker* PipelineCore::choose_idle() {
  Worker* best = nullptr;
  for (unsigned i = 0; i < num_workers_; ++i) {
    Worker& worker = *workers_[i];
    if (!worker.is_idle) continue;
    const bool is_due = i < kEvenWorkers && best != nullptr && worker.num_claims < best->num_claims;
    if (best == nullptr || is_due) best = &worker;
  }
  return best;
}

// Waking a thread costs the consumer microseconds, and a worker that runs takes a core that the
// consumer may want: the first sleeper is woken when half of the slots are empty, the last one when
// a quarter is left. A worker that is awake goes on until all are full. Few slots are no
// buffer to wait with.
bool PipelineCore::needs_another_worker() const {
  constexpr unsigned kFewSlots = 8;
  if (depth_ < kFewSlots) return true;
  const unsigned num_busy = num_workers_ - std::min(num_workers_, num_idle_);
  return num_ready_ <= depth_ / 2 - depth_ / 4 * num_busy / std::max(1U, num_workers_);
}

void PipelineCore::give_work() {
  while (can_claim() && needs_another_worker()) {
    Worker* const worker = choose_idle();
    if (worker == nullptr) return;
    mark_busy(*worker);
    worker->ticket = claim(worker->index);
    worker->wake.notify_one();
  }
}

void PipelineCore::make_free(std::uint32_t slot) {
  // The depth may have been lowered meanwhile: slots beyond it are not used again.
  const bool still_used = slot < depth_ + 2;
  slots_[slot].state = still_used ? SlotState::kFree : SlotState::kUnused;
  if (still_used) free_.push_back(slot);
}

void PipelineCore::open_slots() {
  std::erase_if(free_, [this](std::uint32_t slot) STOKER_NO_THREAD_CHECK {
    const bool beyond = slot >= depth_ + 2;
    if (beyond) slots_[slot].state = SlotState::kUnused;
    return beyond;
  });
  for (std::uint32_t slot = depth_ + 2; slot-- > 0;) {
    if (slots_[slot].state != SlotState::kUnused) continue;
    slots_[slot].state = SlotState::kFree;
    free_.push_back(slot);
  }
}

std::optional<PipelineCore::Work> PipelineCore::await_work(unsigned index) {
  Lock lock(mutex_);
  Worker& worker = *workers_[index];
  for (;;) {
    if (stop_.stop_requested()) return std::nullopt;
    if (!worker.ticket && index < num_workers_ && can_claim()) {
      mark_busy(worker);
      worker.ticket = claim(index);
    }
    if (worker.ticket) {
      return Work{*std::exchange(worker.ticket, std::nullopt), num_ready_ > depth_ / 4};
    }
    mark_idle(worker);
    worker.wake.wait(lock, stop_.get_token());
  }
}

PipelineCore::Outcome PipelineCore::fill(const Ticket& ticket, unsigned worker) {
  Activity& activity = activity_of(worker);
  FillContext context({ticket, worker == kCaller ? 0 : worker}, activity, clock_,
                      stop_.get_token());
  activity.begin(ticket.sequence, clock_.now());
  Outcome outcome;
  try {
    outcome.end = filler_->fill(context);
  } catch (const Failure& failure) {
    outcome.error = explain(failure.error(), activity);
  } catch (const std::bad_alloc&) {
    outcome.error = explain({.code = &kPipeMemory, .found = "out of memory"}, activity);
  } catch (const std::exception& exception) {
    outcome.error = explain({.code = &kPipeWorker, .found = exception.what()}, activity);
  } catch (...) {
    outcome.error = explain({.code = &kPipeWorker, .found = "an unknown exception"}, activity);
  }
  activity.finish(clock_.now());
  return outcome;
}

Error PipelineCore::explain(Error error, const Activity& activity) const {
  if (error.place.file.empty() && activity.item() != kNoItem) {
    error.place.file = filler_->name_item(activity.item());
  }
  if (!error.action.empty()) error.action += "; ";
  error.action += "batch " + std::to_string(activity.sequence()) + " stopped in stage " +
                  std::string(filler_->stages()[activity.stage()]);
  return error;
}

bool PipelineCore::finish(const Ticket& ticket, Outcome outcome) {
  const Lock lock(mutex_);
  const bool is_awaited = waiting_since_ && ticket.sequence == next_deliver_;
  if (outcome.error) {
    make_free(ticket.slot);
    fail_at(ticket.sequence, std::move(*outcome.error));
  } else if (outcome.end == FillEnd::kPastEnd) {
    make_free(ticket.slot);
    end_ = std::min(end_, ticket.sequence);
    consumer_.notify_one();
  } else {
    slots_[ticket.slot].state = SlotState::kReady;
    ++num_ready_;
    ready_slot(ticket.sequence) = ticket.slot;
    if (ticket.sequence == next_deliver_) consumer_.notify_one();
  }
  return is_awaited;
}

// The failure with the smallest number is the one the consumer meets, in whatever order the
// workers met theirs: so it does not depend on their number.
void PipelineCore::fail_at(std::uint64_t sequence, Error error) {
  if (sequence < failed_at_) {
    failed_at_ = sequence;
    error_ = std::move(error);
  }
  consumer_.notify_one();
}

void PipelineCore::run_worker(unsigned index) {
  {
    const Lock lock(mutex_);
    workers_[index]->has_started = true;
  }
  CoreChoice core;
  while (const std::optional<Work> work = await_work(index)) {
    if (work->can_wait) {
      core.keep_off(consumer_core());
    } else {
      core.come_back();
    }
    // With a worker on every core the consumer would get its batch only when a time slice ends.
    if (finish(work->ticket, fill(work->ticket, index))) std::this_thread::yield();
  }
  const Lock lock(mutex_);
  workers_[index]->has_ended = true;
  ended_.notify_all();
}

bool PipelineCore::is_over() const { return cancelled_ || next_deliver_ >= end_; }

Ticket PipelineCore::deliver() {
  const Ticket ticket{next_deliver_, std::exchange(ready_slot(next_deliver_), kNotReady)};
  ++next_deliver_;
  ++num_delivered_;
  --num_ready_;
  slots_[ticket.slot].state = SlotState::kLeased;
  give_work();
  return ticket;
}

std::optional<int> PipelineCore::consumer_core() const {
  const int core = consumer_core_.load(std::memory_order_relaxed);
  return core < 0 ? std::nullopt : std::optional(core);
}

std::optional<Ticket> PipelineCore::next(const std::stop_token& stop) {
  consumer_core_.store(current_core().value_or(-1), std::memory_order_relaxed);
  if (std::optional<Ticket> ticket = take_ready(stop)) return ticket;
  if (std::optional<Ticket> ticket = fill_for_caller()) finish(*ticket, fill(*ticket, kCaller));
  return await_ready(stop);
}

// What is there already, with one lock and without a look at the clock.
std::optional<Ticket> PipelineCore::take_ready(const std::stop_token& stop) {
  const Lock lock(mutex_);
  if (stop.stop_requested() || is_over() || ready_slot(next_deliver_) == kNotReady)
    return std::nullopt;
  return deliver();
}

// Without workers the caller does the work, unless slots from earlier workers are still coming.
std::optional<Ticket> PipelineCore::fill_for_caller() {
  const Lock lock(mutex_);
  if (num_workers_ > 0 || next_claim_ != next_deliver_ || !can_claim()) return std::nullopt;
  return claim(kCaller);
}

std::optional<Ticket> PipelineCore::await_ready(const std::stop_token& stop) {
  Lock lock(mutex_);
  const std::chrono::nanoseconds asked_at = clock_.now();
  waiting_since_ = asked_at;
  std::optional<Ticket> ticket;
  for (;;) {
    if (stop.stop_requested()) cancelled_ = true;
    if (is_over()) break;
    if (ready_slot(next_deliver_) != kNotReady) {
      ticket = deliver();
      break;
    }
    if (failed_at_ <= next_deliver_) break;
    if (num_workers_ == 0 && all_leased()) {
      fail_at(next_deliver_, {.code = &kPipeLeases, .found = picture_locked()});
      continue;
    }
    consumer_.wait(lock, stop);
  }
  waiting_since_.reset();
  consumer_wait_ += clock_.now() - asked_at;
  if (!ticket && !is_over()) raise(Error(*error_));
  return ticket;
}

bool PipelineCore::all_leased() const { return next_claim_ == next_deliver_ && free_.empty(); }

Ending PipelineCore::ending() const {
  const Lock lock(mutex_);
  if (cancelled_) return Ending::kCancelled;
  return next_deliver_ >= end_ ? Ending::kEnd : Ending::kNone;
}

void PipelineCore::release(std::uint32_t slot) {
  const Lock lock(mutex_);
  make_free(slot);
  give_work();
}

void PipelineCore::cancel() {
  const Lock lock(mutex_);
  cancelled_ = true;
  consumer_.notify_all();
}

void PipelineCore::set_num_workers(unsigned num_workers) {
  const Lock lock(mutex_);
  num_workers_ = std::min(num_workers, options_.max_workers);
  give_work();
}

void PipelineCore::set_depth(unsigned depth) {
  const Lock lock(mutex_);
  depth_ = std::clamp(depth, 1U, options_.max_depth);
  open_slots();
  give_work();
}

void PipelineCore::stop() {
  stop_.request_stop();
  cancel();
}

bool PipelineCore::has_ended(unsigned worker) const {
  const Lock lock(mutex_);
  return workers_[worker]->has_ended;
}

std::vector<bool> PipelineCore::wait_for_workers() {
  Lock lock(mutex_);
  const Deadline deadline = Deadline::after(clock_, options_.end_limit);
  const auto still_running = [](const auto& worker) STOKER_NO_THREAD_CHECK {
    return worker->has_started && !worker->has_ended;
  };
  while (std::any_of(workers_.begin(), workers_.end(), still_running)) {
    if (options_.end_limit.count() == 0) {
      ended_.wait(lock, {});
    } else if (ended_.wait_until(lock, {}, deadline) == WaitEnd::kDeadline) {
      break;
    }
  }
  std::vector<bool> running;
  running.reserve(workers_.size());
  for (const auto& worker : workers_) running.push_back(still_running(worker));
  return running;
}

}  // namespace stoker::pipeline
