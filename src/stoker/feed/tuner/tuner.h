// Turns the knobs of a running feed: samples it, asks the policy, applies and logs each move.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "stoker/base/clock.h"
#include "stoker/base/thread/sync.h"
#include "stoker/feed/tuner/tuner_log.h"

namespace stoker::feed {

// Counted since the feed began.
struct TunerCounts {
  std::uint64_t num_batches = 0;
  double consumer_wait_s = 0;
  double cpu_s = 0;   // of the process
  double idle_s = 0;  // of all cores of the machine
  // Of the buffer that the consumer takes from: its waits, and the time in which it was full, as
  // a sum or, where there is none, as what it is now (1: full).
  double buffer_wait_s = 0;
  double slack_s = 0;
  double slack_now = 0;
};

// Both are called in the tuner's thread and must be safe there.
struct TunerTarget {
  std::function<TunerCounts()> count;
  std::function<void(const TunerKnobs&)> apply;
};

struct TunerOptions {
  TunerKnobs start;
  TunerLimits limits;
  unsigned num_cores = 1;         // allowed
  unsigned num_online_cores = 1;  // of the machine
  std::chrono::nanoseconds window = std::chrono::milliseconds(250);
  const Clock* clock = &system_clock();
};

// Runs from construction to destruction. Windows grow to sixteen times their length while nothing
// needs to move; a window in which no batch was taken does not count.
class Tuner {
 public:
  Tuner(TunerTarget target, const TunerOptions& options);
  ~Tuner();

  TunerLog log() const;

 private:
  void run(const std::stop_token& stop) noexcept;
  void watch(const std::stop_token& stop);
  std::chrono::nanoseconds window_now() const STOKER_REQUIRES(mutex_);
  void look(std::chrono::nanoseconds now) STOKER_REQUIRES(mutex_);
  void begin_log() STOKER_REQUIRES(mutex_);

  const TunerTarget target_;
  const TunerOptions options_;
  mutable Mutex mutex_;
  ConditionVariable wake_;
  TunerPolicy policy_ STOKER_GUARDED_BY(mutex_);
  TunerLog log_ STOKER_GUARDED_BY(mutex_);
  TunerCounts before_ STOKER_GUARDED_BY(mutex_);
  std::chrono::nanoseconds looked_at_ STOKER_GUARDED_BY(mutex_){};
  unsigned num_calm_ STOKER_GUARDED_BY(mutex_) = 0;  // windows without a move
  Thread thread_;
};

}  // namespace stoker::feed
