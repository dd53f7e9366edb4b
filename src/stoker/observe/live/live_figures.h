// What a live view shows of one moment, as a plain value: made once per interval by one thread, and
// read by whoever draws it, writes it or serves it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/cuda/nvml.h"
#include "stoker/feed/fallbacks.h"
#include "stoker/feed/records/batch_record.h"
#include "stoker/observe/diagnose/verdict.h"
#include "stoker/observe/machine/machine_window.h"

namespace stoker::observe {

struct LiveGpu {
  unsigned index = 0;  // as nvidia-smi counts
  std::string name{};
  cuda::GpuSample now{};
  cuda::GpuLink link{};  // of the last second or two
};

// The process that writes the watched records; what the system hides is absent.
struct LiveProcess {
  int pid = 0;
  std::optional<double> cpu_cores{};
  std::optional<std::uint64_t> memory_bytes{};
  std::optional<double> read_bytes_per_s{};  // from storage
};

enum class FeedState : std::uint8_t {
  kNone,      // no feed is watched; the sentence says why
  kNotBegun,  // its records are not there yet
  kStarting,  // no batch was handed out yet
  kRunning,
  kEnded,   // closed by its owner
  kKilled,  // its process is gone and closed nothing
};
inline constexpr std::size_t kNumFeedStates = 6;
std::string_view name_of(FeedState state);  // "none", "not_begun", …

// A pause between two batches, beyond the usual one.
struct LiveGap {
  double ago_s = 0;
  double length_s = 0;
  bool is_consumer = false;
  std::string stage{};
  std::string file{};  // where one file is the reason; as the data set names it
};

// Since this view began, over all feeds that it followed: these only rise.
struct FeedTotals {
  std::uint64_t batches = 0, clips = 0, frames = 0, padded_frames = 0;
  std::uint64_t bytes_read = 0, cache_hits = 0, cache_misses = 0;
  std::uint64_t records_lost = 0;  // gone before they were read
  double wait_s = 0, step_s = 0;   // of the consumer: for its batches, and between them
  std::array<double, feed::kNumRecordStages> stage_s{};
  std::array<double, feed::kNumConsumerWorks> work_s{};
};

struct LiveFeed {
  FeedState state = FeedState::kNone;
  std::string sentence{};  // what is watched, or why nothing is
  std::uint64_t epoch = 0, batch = 0;
  // Over the last interval.
  double batches_per_s = 0, clips_per_s = 0, frames_per_s = 0;
  std::optional<double> stall_share{};  // absent: no batch was asked for
  // Since the watched feed began, or since the oldest record that was there.
  std::optional<double> stall_share_total{};
  std::optional<double> since_batch_s{};  // since the last one was handed out
  // Of the last batches.
  std::uint32_t num_ready = 0, most_ready = 0, num_workers = 0, num_held = 0;
  double worker_busy_share = 0;
  std::array<double, feed::kNumRecordStages> stage_shares{};  // of the time of all stages
  double step_ms = 0, interval_ms = 0, interval_cv = 0, padding_share = 0;
  std::vector<LiveGap> gaps{};  // the latest first
  LoopVerdict verdict = LoopVerdict::kUnknown;
  std::string verdict_sentence{};
  FeedTotals totals{};
};

struct LiveFigures {
  std::uint64_t number = 0;  // of this sample
  double at_s = 0;           // since the view began
  double interval_s = 0;     // since the sample before
  std::int64_t unix_ns = 0;
  unsigned num_cores = 1;  // of the machine
  MachineWindow machine{};
  std::vector<LiveGpu> gpus{};
  std::string why_no_gpu{};  // where `gpus` is empty
  LiveFeed feed{};
  std::optional<LiveProcess> process{};
  std::vector<feed::FallbackCount> fallbacks{};  // where the feed is this process's own

  // number, at_s, cpu{…}, memory{…}, disk{…}, gpus[…], feed{…}; null what is not known.
  Json json() const;
};

using FiguresPtr = std::shared_ptr<const LiveFigures>;

}  // namespace stoker::observe
