// Two limits that keep an endpoint from being held by its clients: how long a connection may last,
// and how many requests a second are worked on.
#pragma once

#include <chrono>
#include <deque>

#include "stoker/base/clock.h"
#include "stoker/base/thread/sync.h"

namespace stoker::observe {

// Ends connections at their deadline, whatever they send meanwhile. Thread-safe.
class ConnectionDeadlines {
 public:
  ConnectionDeadlines(std::chrono::nanoseconds total, const Clock& clock);
  ~ConnectionDeadlines();

  // From accepting a socket until just before it is closed.
  void begin(int socket);
  void end(int socket);

 private:
  struct Open {
    int socket = -1;
    std::chrono::nanoseconds until{};
  };
  void watch(const std::stop_token& stop);

  const std::chrono::nanoseconds total_;
  const Clock& clock_;
  Mutex mutex_;
  ConditionVariable changed_;
  std::deque<Open> open_ STOKER_GUARDED_BY(mutex_);  // the oldest first
  Thread thread_;                                    // last: ends first
};

// Lets a burst through at once, and then so many requests a second; whoever is beyond that waits.
// A thousand scrapes a second so cost no more than a hundred. Thread-safe.
class RequestPace {
 public:
  RequestPace(double per_second, double burst, const Clock& clock);
  // Waits for the turn of one request, or for a stop.
  void wait_turn();
  void stop() { stop_.request_stop(); }

 private:
  const double per_second_, burst_;
  const Clock& clock_;
  std::stop_source stop_;
  Mutex mutex_;
  ConditionVariable never_;
  double tokens_ STOKER_GUARDED_BY(mutex_);
  std::chrono::nanoseconds at_ STOKER_GUARDED_BY(mutex_);
};

}  // namespace stoker::observe
