#include "stoker/observe/feed_times.h"

#include <algorithm>

namespace stoker::observe {

double FeedTimes::worker_busy_share() const {
  double sum = 0;
  for (const Stage& stage : worker_stages) sum += stage.share;
  return sum;
}

FeedTimes times_between(const FeedLook& before, const FeedLook& after) {
  const double wall_s = std::max(1e-9, after.at_s - before.at_s);
  const double workers_s = wall_s * std::max(1U, after.num_workers);
  FeedTimes times;
  const auto& earlier = before.stats.pipeline.stages;
  for (std::size_t i = 0; i < after.stats.pipeline.stages.size(); ++i) {
    const pipeline::StageTime& now = after.stats.pipeline.stages[i];
    const double begun_s = i < earlier.size() ? earlier[i].busy_s : 0.0;
    times.worker_stages.push_back({std::string(now.name), (now.busy_s - begun_s) / workers_s});
  }
  if (!after.stats.device_stage || !before.stats.device_stage) return times;
  const feed::UploadStats& first = *before.stats.device_stage;
  const feed::UploadStats& last = *after.stats.device_stage;
  const double launch_s = last.launch_s - first.launch_s;
  const auto moved =
      static_cast<double>(std::max<std::uint64_t>(1, last.num_moved - first.num_moved));
  times.device_thread = FeedTimes::DeviceThread{
      .waits_for_workers =
          (after.stats.pipeline.consumer_wait_s - before.stats.pipeline.consumer_wait_s) / wall_s,
      .waits_for_slot =
          (after.stats.ring->producer_wait_s - before.stats.ring->producer_wait_s) / wall_s,
      .waits_for_copy = (last.copy_wait_s - first.copy_wait_s) / wall_s,
      .launches = launch_s / wall_s,
      .launch_us_per_batch = 1e6 * launch_s / moved};
  return times;
}

}  // namespace stoker::observe
