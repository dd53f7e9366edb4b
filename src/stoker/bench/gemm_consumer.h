// A trainer on the GPU: matrix products for every batch, timed on the GPU itself.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "stoker/feed/feed.h"
#include "stoker/observe/feed_consumer.h"

namespace stoker::bench {

struct GemmConsumerOptions {
  int device = 0;
  double step_s = 1e-3;
  double seconds = 1;
  std::uint64_t warm_batches = 60;
  std::stop_token stop{};
};

struct GemmConsumerReport {
  // Waiting is the GPU's: from the end of one step to the moment the next batch is there.
  observe::ConsumerReport consumer;
  double step_s = 0;      // as the products take without a feed
  double busy_share = 0;  // time in steps over all time
  double step_cost = 0;   // how much longer the median step is beside the feed's kernels
  std::vector<double> gpu_utilization_percent{};  // as the driver says, once a second
};

GemmConsumerReport run_gemm_consumer(feed::Feed& feed, const GemmConsumerOptions& options);

}  // namespace stoker::bench
