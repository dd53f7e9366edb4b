// The part of the core that workers and watchdog run, and what steers them.
#include "stoker/pipeline/pipeline_core.h"

#include <algorithm>
#include <new>
#include <thread>
#include <utility>

#include "stoker/base/cpu_count.h"
#include "stoker/base/number_text.h"
#include "stoker/base/thread/core_choice.h"
#include "stoker/pipeline/errors.h"

namespace stoker::pipeline {
namespace {

double to_seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

PipelineCore::PipelineCore(std::shared_ptr<SlotFiller> filler, const PipelineOptions& options)
    : options_(options),
      clock_(*options.clock),
      num_cores_(num_given_cores()),
      runner_(std::move(filler), *options.clock, options.max_workers),
      ring_({options.first_sequence, options.depth, options.max_depth}),
      slots_(ring_),
      workers_(options.num_workers, options.max_workers),
      worker_counts_(workers_.counts()),
      watchdog_(options.stall_limit, options.max_workers) {}

Ticket PipelineCore::claim(unsigned worker) {
  if (worker != kCaller) workers_.count_claim(worker);
  return slots_.claim(worker);
}

// Whoever wakes up first claims the oldest slot: a core that slept may come back milliseconds late,
// and the consumer would wait for the slot that its thread was given.
void PipelineCore::call_workers() {
  clear_request();
  while (workers_.num_called() < slots_.num_claimable() && needs_another_worker()) {
    if (!workers_.call_one()) return;
  }
}

void PipelineCore::wake_workers() {
  const Lock lock(mutex_);
  call_workers();
}

std::optional<PipelineCore::Work> PipelineCore::await_work(unsigned worker) {
  Lock lock(mutex_);
  for (;;) {
    if (stop_.stop_requested()) return std::nullopt;
    const bool was_called = workers_.answer_call(worker);
    if (workers_.may_work(worker) && slots_.can_claim()) {
      workers_.mark_busy(worker);
      const Ticket ticket = claim(worker);
      call_workers();
      const bool keep_off =
          ring_.num_ready() > ring_.depth() / 4 || worker_counts_.num_workers < num_cores_;
      return Work{ticket, keep_off};
    }
    workers_.mark_idle(worker);
    if (was_called) call_workers();  // somebody who may still work
    workers_.wait(worker, lock, stop_.get_token());
  }
}

FillOutcome PipelineCore::fill(const Ticket& ticket, unsigned worker) {
  return runner_.run({ticket, worker, worker == kCaller ? nullptr : this}, stop_.get_token());
}

bool PipelineCore::finish(const Ticket& ticket, FillOutcome outcome) {
  const Lock lock(mutex_);
  const bool is_awaited = waiting_since_ && ticket.sequence == ring_.head();
  if (outcome.error) {
    slots_.drop(ticket);
    fail_at(ticket.sequence, std::move(*outcome.error));
  } else if (outcome.end == FillEnd::kPastEnd) {
    slots_.drop(ticket);
    slots_.close_at(ticket.sequence);
    end_ = std::min(end_, ticket.sequence);
    consumer_.notify_one();
  } else {
    slots_.put(ticket);
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
    slots_.close_at(sequence);
  }
  consumer_.notify_one();
}

void PipelineCore::run_worker(unsigned worker) {
  {
    const Lock lock(mutex_);
    workers_.begin(worker);
  }
  CoreChoice core;
  while (const std::optional<Work> work = await_work(worker)) {
    if (work->keep_off) {
      core.keep_off(consumer_mark_.core());
    } else {
      core.come_back();
    }
    // With a worker on every core the consumer would get its batch only when a time slice ends.
    if (finish(work->ticket, fill(work->ticket, worker))) std::this_thread::yield();
  }
  const Lock lock(mutex_);
  workers_.end(worker);
}

void PipelineCore::run_watchdog() {
  const std::stop_token stop = stop_.get_token();
  Lock lock(mutex_);
  while (!stop.stop_requested()) {
    watchdog_wake_.wait_until(lock, stop, Deadline::after(clock_, watchdog_.period()));
    try {
      watch(clock_.now());
    } catch (const std::bad_alloc&) {
      continue;  // the next look may find memory for its words
    }
  }
}

void PipelineCore::watch(std::chrono::nanoseconds now) {
  slots_.collect_returned();
  for (unsigned i = 0; i < workers_.size(); ++i) {
    if (const auto stalled = watchdog_.look(i, runner_.activity_of(i), now))
      fail_stalled(i, *stalled);
  }
  const bool waits_for_itself = waiting_since_ && slots_.all_leased() && !is_over();
  if (!watchdog_.is_past_limit(waits_for_itself ? waiting_since_ : std::nullopt, now)) return;
  fail_at(ring_.next_deliver(), {.code = &kPipeLeases, .found = debug_string_locked()});
}

void PipelineCore::fail_stalled(unsigned worker, std::chrono::nanoseconds stalled) {
  const Activity& activity = runner_.activity_of(worker);
  Error error{.code = &kPipeStall,
              .promised = "a step within " + seconds_text(to_seconds(watchdog_.stall_limit())),
              .found = "worker " + std::to_string(worker) + " in " +
                       runner_.describe_stage(activity) + " for " +
                       seconds_text(to_seconds(stalled)) + " (" + debug_string_locked() + ")"};
  error.place.file = runner_.item_name(activity);
  fail_at(activity.sequence(), std::move(error));
}

bool PipelineCore::is_over() const { return cancelled_ || ring_.next_deliver() >= end_; }

Ending PipelineCore::ending() const {
  const Lock lock(mutex_);
  if (cancelled_) return Ending::kCancelled;
  return ring_.next_deliver() >= end_ ? Ending::kEnd : Ending::kNone;
}

void PipelineCore::cancel_locked() {
  cancelled_ = true;
  slots_.close_at(0);
}

void PipelineCore::cancel() {
  const Lock lock(mutex_);
  cancel_locked();
  consumer_.notify_all();
}

void PipelineCore::set_num_workers(unsigned num_workers) {
  const Lock lock(mutex_);
  workers_.set_num_workers(num_workers);
  call_workers();
  consumer_.notify_one();  // without workers it goes on by itself
}

void PipelineCore::set_depth(unsigned depth) {
  const Lock lock(mutex_);
  slots_.set_depth(std::clamp(depth, 1U, options_.max_depth));
  call_workers();
}

void PipelineCore::stop() {
  stop_.request_stop();
  cancel();
}

bool PipelineCore::has_ended(unsigned worker) const {
  const Lock lock(mutex_);
  return workers_.has_ended(worker);
}

std::vector<bool> PipelineCore::wait_for_workers() {
  Lock lock(mutex_);
  return workers_.await_ends(lock, clock_, options_.end_limit);
}

std::string PipelineCore::debug_string() {
  const Lock lock(mutex_);
  slots_.collect_returned();
  return debug_string_locked();
}

std::string PipelineCore::debug_string_locked() const {
  return slots_.debug_string([this](unsigned worker) { return runner_.describe(worker); });
}

PipelineStats PipelineCore::stats() const {
  const Lock lock(mutex_);
  PipelineStats stats;
  stats.num_delivered = ring_.num_delivered();
  stats.num_stage_stalls = watchdog_.num_stalls();
  stats.num_asleep = worker_counts_.num_idle;
  stats.consumer_wait_s = to_seconds(consumer_wait_);
  for (std::uint64_t at = ring_.next_deliver(); at < ring_.next_claim(); ++at) {
    if (!ring_.is_ready(at)) break;
    ++stats.num_ready;
  }
  for (std::size_t stage = 0; stage < runner_.num_stages(); ++stage) {
    stats.stages.push_back({runner_.stage_name(stage), to_seconds(runner_.busy_time(stage))});
  }
  const unsigned shown = std::max(1U, num_workers());
  for (unsigned i = 0; i < shown; ++i) stats.fills.push_back(runner_.activity_of(i).num_fills());
  stats.fills[0] += runner_.activity_of(kCaller).num_fills();
  return stats;
}

}  // namespace stoker::pipeline
