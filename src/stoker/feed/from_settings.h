// From the settings of a run to what a feed is made of; every automatic value is chosen here or,
// for what a GPU does, in device/transfer_plan.h.
#pragma once

#include <memory>

#include "stoker/config/settings.h"
#include "stoker/feed/feed_setup.h"
#include "stoker/feed/sampling/ranks.h"
#include "stoker/feed/sampling/sampler_settings.h"
#include "stoker/feed/source/data_set_source.h"

namespace stoker::feed {

// Gives every `auto` that the order depends on its value, so that the order digest covers it.
config::Settings with_automatic_values(config::Settings settings, const RankRows& ranks);

// The order of batches by these settings, which have passed with_automatic_values().
SamplerSettings sampler_settings(const config::Settings& settings, const data::Index& index);

// Threads that fill batches: as set, else as many as the cores allow beside the consumer.
unsigned workers_of(const config::LoaderSettings& loader);

// Host memory for buffers: as set, else from what the machine has.
std::uint64_t buffer_bytes_of(const config::LoaderSettings& loader);
std::uint64_t most_buffer_bytes_of(const config::LoaderSettings& loader);

// The setup of a feed that reads `source` itself into host memory, from the first batch on. The
// settings have passed with_automatic_values().
FeedSetup setup_of(const config::Settings& settings, const RankRows& ranks,
                   std::shared_ptr<const DataSetSource> source);

}  // namespace stoker::feed
