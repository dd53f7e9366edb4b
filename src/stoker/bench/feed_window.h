// One window of the feed's benchmark: a feed opened, warmed, drained by the consumer, closed.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/bench/feed_bench_case.h"
#include "stoker/bench/gemm_consumer.h"
#include "stoker/feed/feed.h"
#include "stoker/observe/feed_consumer.h"
#include "stoker/observe/feed_limits.h"
#include "stoker/observe/feed_times.h"

namespace stoker::bench {

enum class ConsumerKind : std::uint8_t {
  kEmulated,  // steps pass without work
  kGemm,      // steps are matrix products on the GPU
};

struct FeedWindowOptions {
  double seconds = 1;
  ConsumerKind consumer = ConsumerKind::kEmulated;
  std::optional<double> demand_clips_per_s;
  std::optional<double> demand_share;  // of the supply, measured before
  std::optional<double> step_ms;
  std::stop_token stop{};
};

struct FeedWindow {
  observe::ConsumerReport consumer;
  std::optional<observe::ConsumerReport> memory;  // the same consumer, fed from memory
  observe::FeedLimit limit;
  double supply_clips_per_s = 0;  // with a consumer that takes all; 0: not measured apart
  double step_s = 0;
  observe::FeedTimes times;
  double open_s = 0;
  double first_batch_s = 0;  // after open returned
  double held_mb = 0;
  double buffers_mb = 0;
  unsigned num_workers = 0;
  double audio_s_per_frame = 0;
  std::vector<feed::FallbackCount> fallbacks;
  feed::TunerKnobs knobs;               // as they were at the end
  std::optional<feed::TunerLog> tuner;  // nothing where none ran
  std::string device = "cpu";
  std::string transfer;                      // onto the GPU, in words
  std::optional<GemmConsumerReport> gemm{};  // with a consumer of matrix products
  // From slots that are filled already, and what the bus alone would carry; 0 where nothing does.
  double ready_clips_per_s = 0, bus_clips_per_s = 0;
};

FeedWindow run_feed_window(Io& io, const FeedBenchCase& what, const FeedWindowOptions& options);

// Compares the first batches with those made one by one in this thread, from the sound files where
// these give the same bytes. Throws E-BENCH-WRONG.
void check_feed_case(Io& io, const FeedBenchCase& what, const std::stop_token& stop);

}  // namespace stoker::bench
