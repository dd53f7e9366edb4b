// Waits as the start rule says, and words the two lines that a trainer prints about it.
#include "stoker/feed/start_rule.h"

#include <fmt/format.h>

namespace stoker::feed {

StartReport await_start(DeviceRing& ring, const StartOptions& options) {
  RingStats now = ring.await_ready(1, {.clock = options.clock, .stop = options.stop});
  const Stopwatch since_first(*options.clock);
  if (options.delay.count() > 0) {
    now = ring.await_ready(now.num_slots, {.clock = options.clock,
                                           .deadline = options.clock->now() + options.delay,
                                           .stop = options.stop});
  }
  return {
      .num_ready = now.num_ready, .buffer_size = now.num_slots, .waited_s = since_first.seconds()};
}

std::string waiting_line(std::chrono::nanoseconds delay) {
  return fmt::format("  Waiting for the buffer, at most {:.1f} s after the first batch ...",
                     std::chrono::duration<double>(delay).count());
}

std::string starting_line(const StartReport& report) {
  return fmt::format("Model training starting now (buffer {}/{}, waited {:.1f} s)",
                     report.num_ready, report.buffer_size, report.waited_s);
}

}  // namespace stoker::feed
