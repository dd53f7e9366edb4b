// Finds workers that make no step: short stalls are counted, long ones end the run.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "stoker/pipeline/activity.h"

namespace stoker::pipeline {

// Not thread-safe: belongs to whoever holds the pipeline's lock. It knows no clock: every look is
// told the time.
class Watchdog {
 public:
  Watchdog(std::chrono::nanoseconds stall_limit, unsigned num_workers)
      : stall_limit_(stall_limit), notes_(num_workers) {}

  std::chrono::nanoseconds stall_limit() const { return stall_limit_; }
  // Of the looks.
  std::chrono::nanoseconds period() const { return stall_limit_ / kLooksPerLimit; }

  // How long the worker has made no step, where the next look would be past the limit. A process
  // that was stopped (Ctrl-Z, a paused machine) comes back to looks that are minutes late: nobody
  // could make a step meanwhile, so a late look counts as a few periods.
  std::optional<std::chrono::nanoseconds> look(unsigned worker, const Activity& activity,
                                               std::chrono::nanoseconds now) {
    Note& note = notes_[worker];
    const bool is_busy = activity.is_busy();  // before the progress: see Activity::begin()
    const std::uint64_t progress = activity.progress();
    const std::chrono::nanoseconds passed =
        std::min(now - note.looked_at, period() * kCountedPeriods);
    note.looked_at = now;
    if (!is_busy || progress != note.progress) {
      note = {.progress = progress, .looked_at = now};
      return std::nullopt;
    }
    note.stalled += passed;
    if (note.stalled >= stall_limit_ / kCountedShare && !note.is_counted) {
      note.is_counted = true;
      ++num_stalls_;
    }
    if (note.stalled < stall_limit_ - period()) return std::nullopt;
    return note.stalled;
  }
  // Stalls of a sixth of the limit or longer, each counted once.
  std::uint64_t num_stalls() const { return num_stalls_; }

 private:
  static constexpr int kLooksPerLimit = 20;
  static constexpr int kCountedShare = 6;
  static constexpr int kCountedPeriods = 4;
  struct Note {
    std::uint64_t progress = 0;
    std::chrono::nanoseconds looked_at{};
    std::chrono::nanoseconds stalled{};
    bool is_counted = false;
  };

  const std::chrono::nanoseconds stall_limit_;
  std::vector<Note> notes_;
  std::uint64_t num_stalls_ = 0;
};

}  // namespace stoker::pipeline
