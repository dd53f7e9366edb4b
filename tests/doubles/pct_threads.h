// What the schedule keeps of each thread, and its clock; shared by the parts of PctScheduler.
#pragma once

#include <algorithm>
#include <atomic>
#include <optional>

#include "tests/doubles/pct_scheduler.h"

namespace stoker {

struct PctScheduler::Managed {
  enum class State { kReady, kWantsMutex, kWaits, kJoins, kEnded };

  ThreadId id;
  std::string name;
  std::uint64_t priority;
  State state = State::kReady;
  const void* object = nullptr;     // mutex wanted, or condition waited for
  const void* reacquire = nullptr;  // mutex to own again after a wait
  std::optional<std::chrono::nanoseconds> deadline;
  WaitEnd end = WaitEnd::kNotified;
  ThreadId joins = -1;
  std::condition_variable turn;
};

class PctScheduler::VirtualClock final : public Clock {
 public:
  std::chrono::nanoseconds now() const override { return std::chrono::nanoseconds(now_ns_.load()); }
  std::int64_t unix_time_ns() const override { return now_ns_.load(); }
  void advance_to(std::chrono::nanoseconds at) {
    now_ns_ = std::max(now_ns_.load(), static_cast<std::int64_t>(at.count()));
  }

 private:
  std::atomic<std::int64_t> now_ns_{0};
};

}  // namespace stoker
