// What a feed cannot beat on this machine: a plain copy of the same bytes, or the mel alone.
#pragma once

#include <string>

#include "stoker/feed/feed.h"
#include "stoker/feed/utterance_store.h"

namespace stoker::bench {

struct FeedLimit {
  std::string name;
  double clips_per_s = 0;
};

// memcpy of the mapped records in the order of the epoch into batches, with `num_threads` threads.
// 0 where the records are not mapped.
FeedLimit measure_copy_limit(const feed::UtteranceStore& store, const feed::Feed& feed,
                             unsigned num_threads, double seconds);

// Log-mel of one clip that stays in the processor's cache, with `num_threads` threads; clips of the
// data set's mean length.
FeedLimit measure_mel_limit(const feed::UtteranceStore& store, const feed::Feed& feed,
                            unsigned num_threads, double seconds);

}  // namespace stoker::bench
