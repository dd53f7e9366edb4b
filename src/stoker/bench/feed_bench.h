// Measures the whole feed against a consumer: loaders, paths and settings in one run, each figure
// beside the limit it is up against.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/bench/feed_bench_case.h"
#include "stoker/bench/feed_window.h"
#include "stoker/feed/fallbacks.h"
#include "stoker/feed/tuner/tuner_log.h"
#include "stoker/observe/statistics.h"

namespace stoker::bench {

struct FeedBenchOptions {
  std::vector<FeedBenchCase> cases;
  double seconds = 3.0;  // for each case, all windows together
  unsigned num_windows = 3;
  // The consumer: as fast as possible unless one of these is given.
  std::optional<double> demand_clips_per_s{};
  std::optional<double> demand_share{};  // of the supply, measured in each window
  std::optional<double> step_ms{};
  ConsumerKind consumer = ConsumerKind::kEmulated;
  std::stop_token stop{};
  std::function<void(std::string_view)> say = [](std::string_view) {};
};

// One case. Counts and intervals are those of all windows together, as the consumer saw them.
struct FeedBenchRow : feed::BatchCounts {
  FeedBenchCase what;
  unsigned num_workers = 0;
  std::string device = "cpu";
  double clips_per_s = 0;                                                 // best window
  double median_clips_per_s = 0;                                          // of all windows
  std::vector<double> windows_clips_per_s, windows_cpu_s_per_1000_clips;  // in turn
  double audio_s_per_s = 0;                                               // in the best window
  std::string limit;             // what the figure is up against
  double limit_clips_per_s = 0;  // best of the windows of that limit; 0: none measured
  double share_of_limit = 0;
  double cpu_s_per_1000_clips = 0;  // in the window that took the least
  double cpu_percent = 0;           // of all cores allowed
  double stall_share = 0;           // time the consumer waited over all time
  observe::IntervalStatistics intervals;
  double longest_epoch_gap_ms = 0;    // longest interval that leads from one epoch into the next
  double open_s = 0;                  // best
  double first_batch_s = 0;           // after open() returned, median
  double held_mb = 0;                 // RssAnon + RssShmem while running, most of all windows
  double buffers_mb = 0;              // of that, batches: what the settings allow
  unsigned num_repeated_windows = 0;  // because the machine was disturbed
  double step_ms = 0;                 // 0: as fast as possible
  double supply_clips_per_s = 0;      // what the demand is a share of, median; 0: no share asked
  observe::FeedTimes times;           // in the last window
  // The same consumer with batches that are in memory: the machine's own noise. Only with steps.
  std::optional<observe::IntervalStatistics> memory_intervals;
  std::string transfer;  // onto the GPU, in words; empty on the CPU
  // Of a consumer of matrix products: the driver's view second by second, the share of time in
  // steps, and how much longer a step is beside the feed.
  std::optional<double> gpu_util_mean, gpu_util_p5, gpu_util_min;
  std::optional<double> au, step_cost, step_alone_ms;
  std::optional<double> ready_clips_per_s, ready_share_of_bus;  // from slots filled already
  double bus_clips_per_s = 0;  // what the bus alone would carry; 0: nothing crosses it
  std::vector<feed::FallbackCount> fallbacks;
  feed::TunerKnobs knobs;               // at the end of the last window
  std::optional<feed::TunerLog> tuner;  // of the last window
};

// What one case costs beside another whose windows took turns with its own: shares, above 0 where
// `with` brings less. Rates and processor time for a clip, each window against its neighbour, the
// median and where it is in 95 of 100 cases; and the best windows against each other.
struct FeedBenchCost {
  double median_rate = 0;
  double lowest_rate = 0, highest_rate = 0;
  double best_rate = 0;
  double median_cpu = 0;
  double lowest_cpu = 0, highest_cpu = 0;
  double best_cpu = 0;
};
FeedBenchCost cost_between(const FeedBenchRow& with, const FeedBenchRow& without);

struct FeedBenchReport {
  std::vector<FeedBenchRow> rows;
  double calibration_ms = 0;  // the calmest run of the loop beside which everything was timed
};

// Builds what a case needs and is not there (cache, .npy files), compares each case's first batches
// with an independent way of making them, then lets the windows of all cases take turns. Throws
// E-BENCH-WRONG when a batch is not what it should be, and what the feed throws.
FeedBenchReport bench_feed(Io& io, const FeedBenchOptions& options);

}  // namespace stoker::bench
