// Where a feed's threads spend their time: what a share of a limit below one is made of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/feed/feed.h"

namespace stoker::observe {

// All as shares of the time of those who do it.
struct FeedTimes {
  struct Stage {
    std::string name;
    double share = 0;
  };
  std::vector<Stage> worker_stages;  // of all workers together; what is left they wait
  // Of the thread between host and GPU.
  struct DeviceThread {
    double waits_for_workers = 0;
    double waits_for_slot = 0;  // of the ring: the consumer has none to give back
    double waits_for_copy = 0;  // workers need the memory that a copy still reads
    double launches = 0;
    double launch_us_per_batch = 0;
  };
  std::optional<DeviceThread> device_thread{};

  double worker_busy_share() const;
};

// What happened between two looks at the same feed.
struct FeedLook {
  feed::FeedStats stats;
  double at_s = 0;
  unsigned num_workers = 1;
};
FeedTimes times_between(const FeedLook& before, const FeedLook& after);

}  // namespace stoker::observe
