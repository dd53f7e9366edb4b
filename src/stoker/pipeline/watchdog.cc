#include "stoker/pipeline/watchdog.h"

namespace stoker::pipeline {

std::optional<std::chrono::nanoseconds> Watchdog::look(unsigned worker, const Activity& activity,
                                                       std::chrono::nanoseconds now) {
  Note& note = notes_[worker];
  const std::uint64_t progress = activity.progress();
  if (!activity.is_busy() || progress != note.progress) {
    note = {.progress = progress, .changed_at = now};
    return std::nullopt;
  }
  const std::chrono::nanoseconds stalled = now - note.changed_at;
  if (stalled >= stall_limit_ / kCountedShare && !note.is_counted) {
    note.is_counted = true;
    ++num_stalls_;
  }
  // From here the next look would be past the limit.
  if (stalled < stall_limit_ - period()) return std::nullopt;
  return stalled;
}

}  // namespace stoker::pipeline
