// Which workers run, sleep and are woken next.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/thread/sync.h"

namespace stoker::pipeline {

// Written under the pipeline's lock. The consumer reads them without it, in the default order, as
// hints whether to ask for a worker: no data hangs on them, and whoever then takes the lock decides
// again. The consumer may miss that the last worker has just fallen asleep; its next take asks
// again, and before it waits it looks under the lock.
struct WorkerCounts {
  static constexpr std::size_t kCacheLine = 64;

  alignas(kCacheLine) std::atomic<unsigned> num_idle{0};  // of the first num_workers
  std::atomic<unsigned> num_workers{0};
};

// Not thread-safe but for what counts() gives: belongs to whoever holds the pipeline's lock.
class WorkerSet {
 public:
  WorkerSet(unsigned num_workers, unsigned max_workers);

  const WorkerCounts& counts() const { return counts_; }
  unsigned size() const { return static_cast<unsigned>(workers_.size()); }  // that may ever run
  bool may_work(unsigned worker) const { return worker < counts_.num_workers; }
  // Those beyond go to sleep when they next ask for work.
  void set_num_workers(unsigned num_workers);

  // By the worker itself.
  void begin(unsigned worker) { workers_[worker]->has_started = true; }
  void end(unsigned worker);
  void mark_idle(unsigned worker);
  void mark_busy(unsigned worker);
  void count_claim(unsigned worker) { ++workers_[worker]->num_claims; }
  // Returns whether it was woken by call_one(); then that call is answered.
  bool answer_call(unsigned worker);
  // Until called or stopped; leaves the lock meanwhile.
  void wait(unsigned worker, Lock& lock, const std::stop_token& stop) {
    workers_[worker]->wake.wait(lock, stop);
  }

  // Wakes one that sleeps; false where none does. The first few share the work evenly, those behind
  // them help when these are all busy.
  bool call_one();
  unsigned num_called() const { return num_called_; }  // woken, and not up yet

  bool has_ended(unsigned worker) const { return workers_[worker]->has_ended; }
  // Waits until all that began have ended, at most `limit` (0: any time); leaves the lock
  // meanwhile. True for those that still run.
  std::vector<bool> await_ends(Lock& lock, const Clock& clock, std::chrono::nanoseconds limit);

 private:
  static constexpr unsigned kEvenWorkers = 8;
  struct Worker {
    ConditionVariable wake;
    bool is_called = false;
    std::uint64_t num_claims = 0;
    bool is_idle = false;
    bool has_started = false;
    bool has_ended = false;

    bool is_running() const { return has_started && !has_ended; }
  };

  std::optional<unsigned> choose_idle() const;

  WorkerCounts counts_;
  std::vector<std::unique_ptr<Worker>> workers_;
  unsigned num_called_ = 0;
  ConditionVariable ended_;
};

}  // namespace stoker::pipeline
