// data.batch_frames auto: the largest batches of a run's own data that a step's memory allows.
#pragma once

#include <cstdint>
#include <optional>

#include "stoker/train/loop/batch_sizing.h"
#include "stoker/train/loop/learner.h"
#include "stoker/train/loop/run_feeds.h"

namespace stoker::train {

struct StepRoom {
  std::uint64_t allowed_bytes = 0;  // of the device, for the learner and both feeds
  std::int64_t max_reference_frames = 0;
};

// Of a batch that holds the longest utterance.
std::uint32_t least_frames(const feed::Feed& feed);

// Device bytes that the learner takes for the steps of the feed's shapes, which are recorded where
// it uses graphs; nothing where the memory did not suffice.
std::optional<std::uint64_t> bytes_when_ready(Learner& learner, const feed::Feed& feed,
                                              const LearnerOptions& options);

// Before the first batch: probes steps of `learner` with the shapes that the feed would have, and
// leaves room for what the feeds and an evaluation take beside them. E-TRAIN-MEMORY.
BatchSizing fit_batches(const RunFeeds& feeds, Learner& learner, const StepRoom& room);

}  // namespace stoker::train
