// A thread that looks once per interval and leaves the newest figures for others: the one place
// between the watched feed and whoever asks about it.
#pragma once

#include <chrono>
#include <cstdint>

#include "stoker/base/clock.h"
#include "stoker/base/thread/sync.h"
#include "stoker/observe/live/live_source.h"

namespace stoker::observe {

// Samples from construction to destruction; the first figures are there when it is constructed.
// Thread-safe. Whoever asks waits for nobody but another one who asks, for nanoseconds.
class LiveSampler {
 public:
  LiveSampler(LiveSourceOptions options, std::chrono::nanoseconds every);
  ~LiveSampler();
  LiveSampler(const LiveSampler&) = delete;
  LiveSampler& operator=(const LiveSampler&) = delete;

  FiguresPtr latest() const;  // never null
  // Waits for figures after number `seen`, a stop or the time `at_most`; returns the newest ones.
  FiguresPtr wait_newer(std::uint64_t seen, const std::stop_token& stop,
                        std::chrono::nanoseconds at_most);

 private:
  void publish(LiveFigures figures);
  void watch(const std::stop_token& stop);

  const std::chrono::nanoseconds every_;
  const Clock* clock_;
  LiveSource source_;  // of the thread alone, after construction
  mutable Mutex mutex_;
  ConditionVariable changed_;
  FiguresPtr latest_ STOKER_GUARDED_BY(mutex_);
  Thread thread_;  // last: ends first
};

}  // namespace stoker::observe
