#include "stoker/pipeline/pipeline_core.h"

#include <algorithm>
#include <new>
#include <thread>
#include <utility>

#include "stoker/base/cpu_count.h"
#include "stoker/base/invariant.h"
#include "stoker/base/thread/core_choice.h"
#include "stoker/pipeline/errors.h"

namespace stoker::pipeline {

PipelineCore::PipelineCore(std::shared_ptr<SlotFiller> filler, const PipelineOptions& options)
    : filler_(std::move(filler)),
      options_(options),
      clock_(*options.clock),
      activities_(std::make_unique<Activity[]>(options.max_workers + 1)),
      num_cores_(num_given_cores()),
      returned_(options.max_depth + 2),
      ready_(options.max_depth + 2),
      published_head_(options.first_sequence),
      next_deliver_(options.first_sequence),
      next_claim_(options.first_sequence),
      num_workers_(options.num_workers),
      depth_(options.depth),
      slots_(options.max_depth + 2) {
  check_invariant(filler_->stages().size() <= kMaxStages, "at most kMaxStages stages");
  const Lock lock(mutex_);
  for (unsigned i = 0; i < options.max_workers; ++i) {
    workers_.push_back(std::make_unique<Worker>());
    workers_.back()->index = i;
  }
  free_.reserve(slots_.size());
  open_slots();
}

bool PipelineCore::can_claim() {
  if (next_claim_ - published_head_ > depth_ || next_claim_ >= std::min(end_, failed_at_) ||
      cancelled_) {
    return false;
  }
  // Not with every claim: the consumer would wait for that line of memory. But as often as it tells
  // of batches it took, so that a few slots go round whose memory is near, and not all there are.
  const std::uint64_t told = published_head_;
  if (free_.empty() || told != collected_at_) collect_returned();
  collected_at_ = told;
  is_short_of_slots_.store(free_.empty());
  return !free_.empty();
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
  if (!worker.is_idle && worker.index < num_workers_) ++num_idle_;
  worker.is_idle = true;
}

void PipelineCore::mark_busy(Worker& worker) {
  if (worker.is_idle && worker.index < num_workers_) --num_idle_;
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

void PipelineCore::collect_returned() {
  returned_.take_all(end_slot_,
                     [this](std::uint32_t slot) STOKER_NO_THREAD_CHECK { make_free(slot); });
}

// Slots that could be claimed now.
unsigned PipelineCore::num_claimable() {
  if (!can_claim()) return 0;
  const auto window = static_cast<unsigned>(depth_ + 1 - (next_claim_ - published_head_));
  return std::min(window, static_cast<unsigned>(free_.size()));
}

// Whoever wakes up first claims the oldest slot: a core that slept may come back milliseconds late,
// and the consumer would wait for the slot that its thread was given.
void PipelineCore::give_work() {
  silence();
  while (num_called_ < num_claimable() && needs_another_worker()) {
    Worker* const worker = choose_idle();
    if (worker == nullptr) return;
    mark_busy(*worker);
    worker->is_called = true;
    ++num_called_;
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
  end_slot_ = std::max(end_slot_, depth_ + 2);
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
    const bool was_called = std::exchange(worker.is_called, false);
    if (was_called) --num_called_;
    if (index < num_workers_ && can_claim()) {
      mark_busy(worker);
      const Ticket ticket = claim(index);
      give_work();
      const bool keep_off = num_ready() > depth_ / 4 || num_workers_ < num_cores_;
      return Work{ticket, keep_off};
    }
    mark_idle(worker);
    if (was_called) give_work();  // to somebody who may still work
    worker.wake.wait(lock, stop_.get_token());
  }
}

PipelineCore::Outcome PipelineCore::fill(const Ticket& ticket, unsigned worker) {
  Activity& activity = activity_of(worker);
  const FillContext::Seat seat{ticket, worker == kCaller ? 0 : worker,
                               worker == kCaller ? nullptr : this};
  FillContext context(seat, activity, clock_, stop_.get_token());
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

// A worker must not end for want of the memory that the words take.
Error PipelineCore::explain(const Error& error, const Activity& activity) const noexcept {
  try {
    return explained(error, activity);
  } catch (const std::bad_alloc&) {
    return {.code = &kPipeMemory};
  }
}

Error PipelineCore::explained(Error error, const Activity& activity) const {
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
  const bool is_awaited = waiting_since_ && ticket.sequence == published_head_;
  if (outcome.error) {
    make_free(ticket.slot);
    fail_at(ticket.sequence, std::move(*outcome.error));
  } else if (outcome.end == FillEnd::kPastEnd) {
    make_free(ticket.slot);
    end_ = std::min(end_, ticket.sequence);
    consumer_.notify_one();
  } else {
    slots_[ticket.slot].state = SlotState::kFilled;
    ++num_filled_;
    schedule_point();
    ready_.put(ticket.sequence, ticket.slot);
    if (is_awaited) consumer_.notify_one();
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
    if (work->keep_off) {
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

bool PipelineCore::all_leased() const { return next_claim_ == published_head_ && free_.empty(); }

Ending PipelineCore::ending() const {
  const Lock lock(mutex_);
  if (cancelled_) return Ending::kCancelled;
  return next_deliver_ >= end_ ? Ending::kEnd : Ending::kNone;
}

void PipelineCore::cancel() {
  const Lock lock(mutex_);
  cancelled_ = true;
  consumer_.notify_all();
}

void PipelineCore::set_num_workers(unsigned num_workers) {
  const Lock lock(mutex_);
  num_workers_ = std::min(num_workers, options_.max_workers);
  num_idle_ =
      static_cast<unsigned>(std::count_if(workers_.begin(), workers_.begin() + num_workers_,
                                          [](const auto& worker) { return worker->is_idle; }));
  give_work();
  consumer_.notify_one();  // without workers it goes on by itself
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
