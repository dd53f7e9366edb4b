// A consumer with a feed for a while, and the record of every batch that it got.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

#include "stoker/observe/diagnose/diagnose.h"
#include "stoker/observe/machine/machine_sampler.h"

namespace stoker::observe {

// Lets steps of `step_s` pass; 0: gives batches back at once. On a GPU it waits until the batch is
// there.
std::unique_ptr<WatchedConsumer> make_stand_in(const feed::OpenedFeed& opened, double step_s);

struct WatchOptions {
  double seconds = 1;
  std::uint64_t max_batches = ~std::uint64_t{0};
  std::stop_token stop{};
};
// Records of the batches that the consumer gets from now on.
std::vector<feed::BatchRecord> watch_batches(feed::Feed& feed, WatchedConsumer& consumer,
                                             const WatchOptions& options);

// The machine around a feed: the storage that its data is on, and the GPU that it fills.
MachineSources machine_sources(const feed::OpenedFeed& opened, const config::Settings& settings);
// Samples the machine around the data of `settings`.
std::unique_ptr<MachineWatch> watch_machine(const feed::OpenedFeed& opened,
                                            const config::Settings& settings);

}  // namespace stoker::observe
