// When a trainer may begin: never before one batch is ready, then when the buffer is full or the
// patience is over.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "stoker/base/clock.h"
#include "stoker/feed/device/ring.h"

namespace stoker::feed {

struct StartReport {
  unsigned num_ready = 0;
  unsigned buffer_size = 0;
  double waited_s = 0;  // since the first batch was ready
};

struct StartOptions {
  std::chrono::nanoseconds delay = std::chrono::seconds(2);  // after the first batch; 0: at once
  const Clock* clock = &system_clock();
  std::stop_token stop{};
};

// Blocks as the rule says; returns early after a stop and when the feed has ended or failed.
StartReport await_start(DeviceRing& ring, const StartOptions& options);

// "  Waiting for the buffer, at most 2.0 s after the first batch ..."
std::string waiting_line(std::chrono::nanoseconds delay);
// "Model training starting now (buffer 50/50, waited 0.7 s)"
std::string starting_line(const StartReport& report);

}  // namespace stoker::feed
