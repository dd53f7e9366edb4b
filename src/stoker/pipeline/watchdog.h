// Finds workers that make no step, and a consumer that waits for what it holds itself: short stalls
// are counted, long ones end the run.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "stoker/pipeline/activity.h"
#include "stoker/pipeline/patience.h"

namespace stoker::pipeline {

// Not thread-safe: belongs to whoever holds the pipeline's lock. It knows no clock: every look is
// told the time.
class Watchdog {
 public:
  Watchdog(std::chrono::nanoseconds stall_limit, unsigned num_workers)
      : notes_(num_workers, Note{.stall = Patience(stall_limit)}), leases_(stall_limit) {}

  std::chrono::nanoseconds stall_limit() const { return leases_.limit(); }
  // Of the looks.
  std::chrono::nanoseconds period() const { return leases_.period(); }

  // How long the worker has made no step, where the next look would be past the limit.
  std::optional<std::chrono::nanoseconds> look(unsigned worker, const Activity& activity,
                                               std::chrono::nanoseconds now) {
    Note& note = notes_[worker];
    const bool is_busy = activity.is_busy();  // before the progress: see Activity::begin()
    const std::uint64_t progress = activity.progress();
    if (!is_busy || progress != note.progress) {
      note.progress = progress;
      note.is_counted = false;
      note.stall.begin(now);
      return std::nullopt;
    }
    const std::chrono::nanoseconds stalled = note.stall.look(now);
    if (stalled >= stall_limit() / kCountedShare && !note.is_counted) {
      note.is_counted = true;
      ++num_stalls_;
    }
    if (stalled < stall_limit() - period()) return std::nullopt;
    return stalled;
  }

  // Whether the consumer has waited beyond the limit while it held every slot itself. `since` says
  // which wait it is; nothing: it does not wait, or not for itself.
  bool is_past_limit(std::optional<std::chrono::nanoseconds> since, std::chrono::nanoseconds now) {
    if (!since || since != waits_since_) {
      waits_since_ = since;
      leases_.begin(since.value_or(now));
    }
    return leases_.look(now) >= stall_limit();
  }

  // Stalls of a sixth of the limit or longer, each counted once.
  std::uint64_t num_stalls() const { return num_stalls_; }

 private:
  static constexpr int kCountedShare = 6;
  struct Note {
    std::uint64_t progress = 0;
    bool is_counted = false;
    Patience stall;
  };

  std::vector<Note> notes_;
  Patience leases_;
  std::optional<std::chrono::nanoseconds> waits_since_{};
  std::uint64_t num_stalls_ = 0;
};

}  // namespace stoker::pipeline
