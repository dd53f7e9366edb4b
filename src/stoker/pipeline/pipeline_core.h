// What workers, watchdog and consumer share, kept alive by whoever still uses it: puts the slot
// ring, the worker set and the watchdog together under one lock.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/thread/sync.h"
#include "stoker/pipeline/consumer_mark.h"
#include "stoker/pipeline/fill_runner.h"
#include "stoker/pipeline/pipeline.h"
#include "stoker/pipeline/slot_ring.h"
#include "stoker/pipeline/slot_table.h"
#include "stoker/pipeline/wake_request.h"
#include "stoker/pipeline/watchdog.h"
#include "stoker/pipeline/worker_set.h"

namespace stoker::pipeline {

// Thread-safe. Every wait in it ends on stop. A consumer that finds its slot ready takes it, and
// gives one back, without the lock (slot_ring.h); everything else runs under it.
class PipelineCore final : private WakeRequest {
 public:
  PipelineCore(std::shared_ptr<SlotFiller> filler, const PipelineOptions& options);

  // As Pipeline's.
  std::optional<Ticket> next(const std::stop_token& stop, const WaitPause* pause);
  std::optional<std::uint32_t> peek() const;
  unsigned num_behind() const { return ring_.num_behind(); }
  Ending ending() const;
  void release(std::uint32_t slot);
  void cancel();
  void set_num_workers(unsigned num_workers);
  void set_depth(unsigned depth);
  PipelineStats stats() const;
  std::string debug_string();
  unsigned max_workers() const { return options_.max_workers; }
  unsigned num_workers() const { return worker_counts_.num_workers; }

  // Bodies of the threads; they return after stop().
  void run_worker(unsigned worker);
  void run_watchdog();
  void stop();
  // Waits for the bodies to return; true for the workers that did not within end_limit.
  std::vector<bool> wait_for_workers();
  bool has_ended(unsigned worker) const;

 private:
  static constexpr unsigned kCaller = FillRunner::kCaller;
  static constexpr std::uint64_t kNever = SlotTable::kNever;
  static constexpr std::size_t kCacheLine = 64;

  struct Work {
    Ticket ticket;
    bool keep_off = false;  // the consumer's core: there are others, or this work can wait
  };

  // The consumer's side, pipeline_take.cc.
  std::optional<Ticket> take_ready(const std::stop_token& stop);
  std::optional<Ticket> await_ready(const std::stop_token& stop, const WaitPause* pause);
  // Whether the wait goes on; leaves the lock for a pause.
  bool await_change(Lock& lock, const std::stop_token& stop,
                    const WaitPause* pause) STOKER_NO_THREAD_CHECK;
  // Returns whether the caller has filled one; leaves the lock meanwhile.
  bool fill_for_caller(Lock& lock) STOKER_NO_THREAD_CHECK;
  void end_wait() STOKER_REQUIRES(mutex_);
  bool needs_another_worker() const;
  void request_worker();

  // The workers' side, pipeline_core.cc.
  std::optional<Work> await_work(unsigned worker);
  Ticket claim(unsigned worker) STOKER_REQUIRES(mutex_);
  FillOutcome fill(const Ticket& ticket, unsigned worker);
  // Returns whether the consumer waits for this very ticket.
  bool finish(const Ticket& ticket, FillOutcome outcome);
  void wake_workers() override;
  void call_workers() STOKER_REQUIRES(mutex_);

  void fail_at(std::uint64_t sequence, Error error) STOKER_REQUIRES(mutex_);
  void cancel_locked() STOKER_REQUIRES(mutex_);
  bool is_over() const STOKER_REQUIRES(mutex_);
  void watch(std::chrono::nanoseconds now) STOKER_REQUIRES(mutex_);
  void fail_stalled(unsigned worker, std::chrono::nanoseconds stalled) STOKER_REQUIRES(mutex_);
  std::string debug_string_locked() const STOKER_REQUIRES(mutex_);

  const PipelineOptions options_;
  const Clock& clock_;
  const unsigned num_cores_;
  std::stop_source stop_;
  FillRunner runner_;
  SlotRing ring_;
  ConsumerMark consumer_mark_;
  // Consumers in await_ready(); see release() for its order.
  std::atomic<unsigned> num_waiting_{0};
  // Relaxed where it is read without the lock: a flag alone, nothing is read through it, and a
  // consumer that misses it takes one more slot.
  std::atomic<bool> cancelled_{false};

  alignas(kCacheLine) mutable Mutex mutex_;
  ConditionVariable consumer_;
  ConditionVariable watchdog_wake_;
  SlotTable slots_ STOKER_GUARDED_BY(mutex_);
  WorkerSet workers_ STOKER_GUARDED_BY(mutex_);
  const WorkerCounts& worker_counts_;  // of workers_, for looks without the lock
  Watchdog watchdog_ STOKER_GUARDED_BY(mutex_);
  std::uint64_t end_ STOKER_GUARDED_BY(mutex_) = kNever;
  std::uint64_t failed_at_ STOKER_GUARDED_BY(mutex_) = kNever;
  std::optional<Error> error_ STOKER_GUARDED_BY(mutex_);
  std::chrono::nanoseconds consumer_wait_ STOKER_GUARDED_BY(mutex_){};
  std::optional<std::chrono::nanoseconds> waiting_since_ STOKER_GUARDED_BY(mutex_);
  std::chrono::nanoseconds next_pause_ STOKER_GUARDED_BY(mutex_){};
};

}  // namespace stoker::pipeline
