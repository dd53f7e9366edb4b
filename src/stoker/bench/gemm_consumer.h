// A trainer on the GPU: matrix products for every batch, timed on the GPU itself.
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "stoker/feed/feed.h"
#include "stoker/observe/feed_consumer.h"

namespace stoker::bench {

struct GemmConsumerOptions {
  int device = 0;
  double step_s = 1e-3;  // beside the feed's own kernels
  double seconds = 1;
  std::uint64_t warm_batches = 60;
  std::stop_token stop{};
};

struct GemmConsumerReport {
  // Waiting is the GPU's: between two steps, beyond the gap that is there when no feed runs.
  observe::ConsumerReport consumer;
  // The same steps over one batch that stays, while the feed rests.
  observe::ConsumerReport memory;
  double step_s = 0;        // median beside the feed
  double step_alone_s = 0;  // median of the same work while the feed rests
  // AU: time with batches that are there already over time with the feed, so that waiting and what
  // the feed's kernels cost are both in it.
  double accelerator_use = 0;

  // How much longer the feed's kernels make a step.
  double step_cost() const { return step_alone_s > 0 ? step_s / step_alone_s - 1 : 0; }
  std::vector<double> gpu_utilization_percent{};  // as the driver says, once a second
};

GemmConsumerReport run_gemm_consumer(feed::Feed& feed, const GemmConsumerOptions& options);

}  // namespace stoker::bench
