// How long a wait has lasted while this process could run: a process that was stopped (Ctrl-Z, a
// paused machine) comes back to looks that are minutes late, and nobody could act meanwhile.
#pragma once

#include <algorithm>
#include <chrono>

namespace stoker::pipeline {

// Not thread-safe. It knows no clock: every look is told the time.
class Patience {
 public:
  explicit Patience(std::chrono::nanoseconds limit) : limit_(limit) {}

  std::chrono::nanoseconds limit() const { return limit_; }
  // Of the looks.
  std::chrono::nanoseconds period() const { return limit_ / kLooksPerLimit; }

  void begin(std::chrono::nanoseconds now) {
    looked_at_ = now;
    lasted_ = {};
  }
  // How long it has lasted since begin(); a late look counts as a few periods.
  std::chrono::nanoseconds look(std::chrono::nanoseconds now) {
    lasted_ += std::min(now - looked_at_, period() * kCountedPeriods);
    looked_at_ = now;
    return lasted_;
  }

 private:
  static constexpr int kLooksPerLimit = 20;
  static constexpr int kCountedPeriods = 4;

  std::chrono::nanoseconds limit_;
  std::chrono::nanoseconds looked_at_{};
  std::chrono::nanoseconds lasted_{};
};

}  // namespace stoker::pipeline
