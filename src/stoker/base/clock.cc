#include "stoker/base/clock.h"

#include <ctime>

namespace stoker {
namespace {

std::int64_t read_clock_ns(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

class SystemClock final : public Clock {
 public:
  std::chrono::nanoseconds now() const override {
    return std::chrono::nanoseconds(read_clock_ns(CLOCK_MONOTONIC));
  }
  std::int64_t unix_time_ns() const override { return read_clock_ns(CLOCK_REALTIME); }
};

}  // namespace

Clock& system_clock() {
  static SystemClock clock;
  return clock;
}

}  // namespace stoker
