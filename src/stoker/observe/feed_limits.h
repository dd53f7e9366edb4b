// What a feed cannot beat on this machine: a plain copy of the same bytes, the mel alone, or into
// GPU memory the bus and the cores that fill page-locked memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "stoker/feed/feed.h"
#include "stoker/feed/source/data_set_source.h"

namespace stoker::observe {

// A voice-like clip as long as the mean LJSpeech utterance, 6.574 s at 22.05 kHz or 566 frames, the
// same on every machine.
inline constexpr std::size_t kMeasuringClipSamples = 144953;
std::vector<std::int16_t> measuring_clip();

struct FeedLimit {
  std::string name;
  double clips_per_s = 0;
};

// memcpy of the mapped records in the order of the epoch into batches, with `num_threads` threads.
// 0 where the records are not mapped.
FeedLimit measure_copy_limit(const feed::DataSetSource& store, const feed::Feed& feed,
                             unsigned num_threads, double seconds);

// Log-mel of one utterance of the data set's mean length that stays in the processor's cache, with
// `num_threads` threads.
FeedLimit measure_mel_limit(const feed::DataSetSource& store, const feed::Feed& feed,
                            unsigned num_threads, double seconds);

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
