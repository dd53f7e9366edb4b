// A clock that moves only when the test says so.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "stoker/base/clock.h"

namespace stoker {

// Thread-safe.
class FakeClock final : public Clock {
 public:
  std::chrono::nanoseconds now() const override { return std::chrono::nanoseconds(now_ns_.load()); }
  std::int64_t unix_time_ns() const override { return unix_ns_.load(); }

  // Lets time pass on both clocks.
  void advance(std::chrono::nanoseconds by) {
    now_ns_ += by.count();
    unix_ns_ += by.count();
  }
  // What an administrator or NTP may do: the wall clock jumps, the monotonic one does not.
  void set_unix_time_ns(std::int64_t at) { unix_ns_ = at; }

 private:
  std::atomic<std::int64_t> now_ns_{1'000'000'000};
  std::atomic<std::int64_t> unix_ns_{1'700'000'000'000'000'000};
};

}  // namespace stoker
