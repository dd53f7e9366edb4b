// The two shuffles of an epoch: rows inside a bucket, then batches among each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stoker/base/philox.h"
#include "stoker/feed/sampling/epoch_plan.h"
#include "stoker/feed/sampling/sampler_settings.h"

namespace stoker::feed {

struct ShuffleKey {
  std::uint64_t seed = kDefaultSeed;
  std::uint64_t epoch = 0;
  std::uint64_t item = 0;  // the bucket, or the attempt
};

// Fisher–Yates from the last place down; draw i is unbiased below i + 1. Stage "order/rows".
void shuffle_rows(const ShuffleKey& key, std::span<std::uint32_t> rows);

// Fisher–Yates over batches (stage "order/batches"). A random order of a few hundred batches can by
// chance put long beside long; from 16 batches on, orders whose lengths correlate by more than 0.05
// from one batch to the next are drawn again, at most 64 times, and the least correlated is kept.
void shuffle_batches(const ShuffleKey& key, const std::vector<BatchShape>& shapes,
                     std::vector<PlannedBatch>& batches);

}  // namespace stoker::feed
