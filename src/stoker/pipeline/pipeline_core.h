// The state that workers, watchdog and consumer share; kept alive by whoever still uses it.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/thread/sync.h"
#include "stoker/pipeline/pipeline.h"
#include "stoker/pipeline/ready_ring.h"
#include "stoker/pipeline/returned_slots.h"
#include "stoker/pipeline/slot_filler.h"
#include "stoker/pipeline/wake_request.h"

namespace stoker::pipeline {

// Thread-safe. Every wait in it ends on stop. A consumer that finds its slot ready takes it, and
// gives one back, without the lock: a worker that the system has stopped while it held the lock
// would stop the consumer too.
class PipelineCore final : private WakeRequest {
 public:
  PipelineCore(std::shared_ptr<SlotFiller> filler, const PipelineOptions& options);

  std::optional<Ticket> next(const std::stop_token& stop);
  std::optional<std::uint32_t> peek() const;
  Ending ending() const;
  void release(std::uint32_t slot);
  void cancel();
  void set_num_workers(unsigned num_workers);
  void set_depth(unsigned depth);
  PipelineStats stats() const;
  std::string debug_string();
  unsigned max_workers() const { return options_.max_workers; }
  unsigned num_workers() const { return num_workers_.load(); }

  // Bodies of the threads; they return after stop().
  void run_worker(unsigned worker);
  void run_watchdog();
  void stop();
  // Waits for the bodies to return; true for the workers that did not within end_limit.
  std::vector<bool> wait_for_workers();
  bool has_ended(unsigned worker) const;

 private:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
  static constexpr unsigned kCaller = std::numeric_limits<unsigned>::max();
  static constexpr unsigned kEvenWorkers = 8;
  static constexpr std::size_t kCacheLine = 64;

  // Filled ones wait until they are delivered, then they are leased.
  enum class SlotState { kUnused, kFree, kFilling, kFilled };
  struct Slot {
    SlotState state = SlotState::kUnused;
    std::uint64_t sequence = 0;
    unsigned worker = 0;
  };
  struct Worker {
    unsigned index = 0;
    ConditionVariable wake;
    bool is_called = false;  // woken, and not yet up
    std::uint64_t num_claims = 0;
    bool is_idle = false;
    bool has_started = false;
    bool has_ended = false;
    // The watchdog's notes.
    std::uint64_t seen_progress = 0;
    std::chrono::nanoseconds changed_at{};
    bool stall_counted = false;
  };
  struct Outcome {
    FillEnd end = FillEnd::kFilled;
    std::optional<Error> error;
  };

  struct Work {
    Ticket ticket;
    bool keep_off = false;  // the consumer's core: there are others, or this work can wait
  };

  std::optional<Work> await_work(unsigned worker);
  Outcome fill(const Ticket& ticket, unsigned worker);
  Error explain(const Error& error, const Activity& activity) const noexcept;
  Error explained(Error error, const Activity& activity) const;
  // Returns whether the consumer waits for this very ticket.
  bool finish(const Ticket& ticket, Outcome outcome);
  std::optional<Ticket> take_ready(const std::stop_token& stop);
  // Returns whether the caller has filled one; leaves the lock meanwhile.
  bool fill_for_caller(Lock& lock) STOKER_NO_THREAD_CHECK;
  void end_wait() STOKER_REQUIRES(mutex_);
  std::optional<Ticket> await_ready(const std::stop_token& stop);
  void await_change(Lock& lock, const std::stop_token& stop) STOKER_REQUIRES(mutex_);

  // What the consumer does without the lock.
  std::uint32_t find_ready() const;
  Ticket deliver(std::uint32_t slot);
  void tell_workers();
  void call_for_help();
  bool wants_help() const;
  bool needs_another_worker() const;
  unsigned num_ready() const;  // in any order, as far as the workers were told
  void answer() override;

  void collect_returned() STOKER_REQUIRES(mutex_);
  unsigned num_claimable() STOKER_REQUIRES(mutex_);
  bool can_claim() STOKER_REQUIRES(mutex_);
  Ticket claim(unsigned worker) STOKER_REQUIRES(mutex_);
  void mark_idle(Worker& worker) STOKER_REQUIRES(mutex_);
  void mark_busy(Worker& worker) STOKER_REQUIRES(mutex_);
  Worker* choose_idle() STOKER_REQUIRES(mutex_);
  void give_work() STOKER_REQUIRES(mutex_);
  void make_free(std::uint32_t slot) STOKER_REQUIRES(mutex_);
  void open_slots() STOKER_REQUIRES(mutex_);
  void fail_at(std::uint64_t sequence, Error error) STOKER_REQUIRES(mutex_);
  bool is_over() const STOKER_REQUIRES(mutex_);
  bool all_leased() const STOKER_REQUIRES(mutex_);
  void watch(std::chrono::nanoseconds now) STOKER_REQUIRES(mutex_);
  void watch_worker(unsigned index, std::chrono::nanoseconds now) STOKER_REQUIRES(mutex_);
  void watch_leases(std::chrono::nanoseconds now) STOKER_REQUIRES(mutex_);
  std::string picture_locked() const STOKER_REQUIRES(mutex_);
  std::string doing(const Activity& activity) const;
  Activity& activity_of(unsigned worker) const {
    return activities_[std::min(worker, options_.max_workers)];
  }
  void note_consumer();
  std::optional<int> consumer_core() const;

  const std::shared_ptr<SlotFiller> filler_;
  const PipelineOptions options_;
  const Clock& clock_;
  std::stop_source stop_;
  // One per worker, then the caller's; each is written by its thread alone.
  const std::unique_ptr<Activity[]> activities_;
  const unsigned num_cores_;
  ReturnedSlots returned_;
  ReadyRing ready_;

  // Workers look at what they were told, and only then. It only grows.
  alignas(kCacheLine) std::atomic<std::uint64_t> published_head_;
  // Written by the consumer alone.
  alignas(kCacheLine) std::atomic<std::uint64_t> next_deliver_;
  std::atomic<unsigned> num_waiting_{0};  // consumers in await_ready()
  // Where next() was called last.
  std::atomic<int> consumer_core_{-1};
  std::atomic<std::thread::id> consumer_thread_{};

  // Written with the lock held; the consumer looks at them without it. Those that change with every
  // slot have a line of their own.
  alignas(kCacheLine) std::atomic<std::uint64_t> next_claim_;
  std::atomic<std::uint64_t> num_filled_{0};
  alignas(kCacheLine) std::atomic<unsigned> num_idle_{0};  // of the first num_workers_
  std::atomic<bool> is_short_of_slots_{false};  // workers sleep because the consumer holds many
  std::atomic<unsigned> num_workers_;
  std::atomic<unsigned> depth_;
  std::atomic<bool> cancelled_{false};

  alignas(kCacheLine) mutable Mutex mutex_;
  ConditionVariable consumer_;
  ConditionVariable watchdog_;
  ConditionVariable ended_;
  std::vector<std::unique_ptr<Worker>> workers_ STOKER_GUARDED_BY(mutex_);
  std::vector<Slot> slots_ STOKER_GUARDED_BY(mutex_);
  std::vector<std::uint32_t> free_ STOKER_GUARDED_BY(mutex_);  // a stack
  std::uint64_t collected_at_ STOKER_GUARDED_BY(mutex_) = 0;   // published_head_ at the last look
  unsigned num_called_ STOKER_GUARDED_BY(mutex_) = 0;  // workers that were woken and are not up yet
  std::uint32_t end_slot_ STOKER_GUARDED_BY(mutex_) = 0;  // no slot from there on was ever used
  std::uint64_t end_ STOKER_GUARDED_BY(mutex_) = kNever;
  std::uint64_t failed_at_ STOKER_GUARDED_BY(mutex_) = kNever;
  std::optional<Error> error_ STOKER_GUARDED_BY(mutex_);
  std::uint64_t num_stage_stalls_ STOKER_GUARDED_BY(mutex_) = 0;
  std::chrono::nanoseconds consumer_wait_ STOKER_GUARDED_BY(mutex_){};
  std::optional<std::chrono::nanoseconds> waiting_since_ STOKER_GUARDED_BY(mutex_);
};

}  // namespace stoker::pipeline
