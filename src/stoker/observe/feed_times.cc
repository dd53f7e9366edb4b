#include "stoker/observe/feed_times.h"

#include <algorithm>

namespace stoker::observe {

double FeedTimes::worker_busy_share() const {
  double sum = 0;
  for (const Stage& stage : worker_stages) sum += stage.share;
  return sum;
}

double FeedTimes::DeviceThread::share(std::string_view name) const {
  const auto found = std::find_if(stages.begin(), stages.end(),
                                  [&](const Stage& stage) { return stage.name == name; });
  return found == stages.end() ? 0.0 : found->share;
}

namespace {

FeedTimes::DeviceThread device_thread_between(const feed::FeedStats& before,
                                              const feed::FeedStats& after, double wall_s) {
  const feed::UploadStats& first = *before.upload;
  const feed::UploadStats& last = *after.upload;
  FeedTimes::DeviceThread thread;
  const auto add = [&](std::string_view name, double from_s, double to_s) {
    thread.stages.push_back({std::string(name), (to_s - from_s) / wall_s});
  };
  add("waits_for_workers", before.pipeline.consumer_wait_s, after.pipeline.consumer_wait_s);
  add("waits_for_slot", before.ring->producer_wait_s, after.ring->producer_wait_s);
  for (const feed::UploadTimeField& field : feed::kUploadTimeFields) {
    add(field.share_key, first.*field.member, last.*field.member);
  }
  const auto moved =
      static_cast<double>(std::max<std::uint64_t>(1, last.num_moved - first.num_moved));
  thread.launch_us_per_batch = 1e6 * (last.launch_s - first.launch_s) / moved;
  return thread;
}

}  // namespace

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
  if (after.stats.upload && before.stats.upload) {
    times.device_thread = device_thread_between(before.stats, after.stats, wall_s);
  }
  return times;
}

}  // namespace stoker::observe
