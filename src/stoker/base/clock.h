// The seam for time: stoker asks a Clock, so that tests can jump it.
#pragma once

#include <chrono>
#include <cstdint>

namespace stoker {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::chrono::nanoseconds now() const = 0;  // monotonic, arbitrary origin
  virtual std::int64_t unix_time_ns()
      const = 0;  // wall clock; only for display, never for validity
};

Clock& system_clock();

// Seconds since construction, by the given clock.
class Stopwatch {
 public:
  explicit Stopwatch(const Clock& clock = system_clock()) : clock_(&clock), start_(clock.now()) {}
  double seconds() const { return std::chrono::duration<double>(clock_->now() - start_).count(); }

 private:
  const Clock* clock_;
  std::chrono::nanoseconds start_;
};

}  // namespace stoker
