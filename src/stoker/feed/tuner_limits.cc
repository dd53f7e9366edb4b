#include "stoker/feed/tuner_limits.h"

#include <algorithm>

#include "stoker/base/cpu_count.h"
#include "stoker/base/machine_figures.h"

namespace stoker::feed {
namespace {

// Workers that wait for storage may be more than the cores.
constexpr unsigned kIdleWorkersPerCore = 4;
constexpr unsigned kMostReadAhead = 512;
constexpr unsigned kFewestReady = 4;

}  // namespace

TunerLimits tuner_limits(const TunedFeed& feed) {
  const LoadingOptions& loading = feed.setup.loading;
  const unsigned workers =
      std::min(workers_beside_consumer(loading.tuned_cores), loading.max_workers);
  TunerLimits limits;
  limits.most.at(TunerKnob::kWorkers) = workers;
  limits.most.at(TunerKnob::kDepth) = feed.max_depth;
  limits.most.at(TunerKnob::kReadAhead) = kMostReadAhead;
  limits.most_idle_workers =
      std::min(kIdleWorkersPerCore * loading.tuned_cores, loading.max_workers);
  if (feed.device != nullptr) {
    limits.most.at(TunerKnob::kDeviceDepth) = feed.device->budget().most_slots;
    if (feed.setup.device->is_buffer_tuned) limits.buffer = TunerKnob::kDeviceDepth;
  } else if (!loading.depth) {
    limits.buffer = TunerKnob::kDepth;
    limits.least_buffer = std::min(feed.max_depth, std::max(kFewestReady, 2 * workers));
  }
  return limits;
}

TunerCounts tuner_counts(const TunedFeed& feed, const pipeline::PipelineStats& stats,
                         unsigned depth) {
  TunerCounts counts{.num_batches = stats.num_delivered,
                     .consumer_wait_s = stats.consumer_wait_s,
                     .cpu_s = process_cpu_s(),
                     .idle_s = machine_idle_s(),
                     .buffer_wait_s = stats.consumer_wait_s};
  if (feed.device == nullptr) {
    // Workers sleep until half of the slots are empty.
    counts.slack_now = 2 * stats.num_ready >= depth ? 1 : 0;
    return counts;
  }
  const RingStats ring = feed.device->ring()->stats();
  counts.buffer_wait_s = ring.consumer_wait_s;
  counts.slack_s = ring.producer_wait_s;
  return counts;
}

}  // namespace stoker::feed
