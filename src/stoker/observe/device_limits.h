// What a feed into GPU memory cannot beat: the bus from page-locked memory, and the cores that fill
// that memory.
#pragma once

#include "stoker/cuda/device_api.h"
#include "stoker/observe/feed_limits.h"

namespace stoker::observe {

struct TransferLimits {
  double bus_bytes_per_s = 0;     // page-locked host memory to the device
  double memcpy_bytes_per_s = 0;  // `num_threads` threads into page-locked memory
};

struct TransferLimitOptions {
  int device = 0;
  unsigned num_threads = 1;
  double seconds = 0.3;  // for each
};
TransferLimits measure_transfer_limits(const TransferLimitOptions& options);

// Utterances a second that the bus alone would carry in batches of this feed.
double bus_limit(const feed::Feed& feed, const TransferLimits& limits);
// The smaller of the two.
FeedLimit device_limit(const feed::Feed& feed, const TransferLimits& limits);

}  // namespace stoker::observe
