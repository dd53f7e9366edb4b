// Where a feed's threads spend their time: what a share of a limit below one is made of.
#pragma once

#include <optional>
#include <string>
#include <string_view>
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
  // Of the thread between host and GPU: waits_for_workers, waits_for_slot (of the ring: the
  // consumer has none to give back), and what feed::kUploadTimeFields lists.
  struct DeviceThread {
    std::vector<Stage> stages;
    double launch_us_per_batch = 0;

    double share(std::string_view name) const;  // 0 where there is no such stage
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
