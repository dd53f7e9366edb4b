// What a feed's batches may hold at most, and how many of them fit into the memory given.
#pragma once

#include <cstdint>

#include "stoker/feed/assembly/batch_slot.h"
#include "stoker/feed/feed_setup.h"
#include "stoker/feed/sampling/sampler.h"

namespace stoker::feed {

BatchFormat make_format(const FeedSetup& setup, const Sampler& order);

// As many slots as the memory allows, but not more than a pipeline can use. Throws E-FEED-MEMORY
// where not even three fit: one is filled, one is ready, one is in the consumer's hands.
unsigned count_slots(const BatchFormat& format, std::uint64_t buffer_bytes);

// Batches ready in host memory where nobody says how many. A tuner may go on from there.
unsigned default_depth(const FeedSetup& setup, const BatchFormat& format, unsigned max_depth);

}  // namespace stoker::feed
