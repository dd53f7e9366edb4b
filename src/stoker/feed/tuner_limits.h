// What a tuner sees of a feed, and how far it may go there.
#pragma once

#include "stoker/feed/device/uploader.h"
#include "stoker/feed/feed_setup.h"
#include "stoker/feed/tuner/tuner.h"
#include "stoker/pipeline/pipeline.h"

namespace stoker::feed {

struct TunedFeed {
  const FeedSetup& setup;
  const DeviceUploader* device = nullptr;  // null: batches stay in host memory
  unsigned max_depth = 1;                  // what the memory given allows
};

// The buffer that the consumer takes from moves where no setting says how long it is: within
// data_gpu_memory on a GPU, within buffer_memory in host memory.
TunerLimits tuner_limits(const TunedFeed& feed);

TunerCounts tuner_counts(const TunedFeed& feed, const pipeline::PipelineStats& stats,
                         unsigned depth);

}  // namespace stoker::feed
