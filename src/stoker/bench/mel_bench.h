// Measures log-mel on the CPU: checked output, sustained and undisturbed speed, share of the limit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "stoker/audio/mel/mel_stage_times.h"
#include "stoker/base/simd_level.h"
#include "stoker/bench/mel_reference.h"
#include "stoker/config/mel_recipe.h"

namespace stoker::bench {

// A short group: about 3 ms of work, mostly undisturbed even on a shared machine.
inline constexpr std::size_t kGroupClips = 20;

struct MelBenchOptions {
  config::MelRecipe recipe;
  SimdLevel level = SimdLevel::kScalar;
  std::size_t num_threads = 1;
  double seconds = 3.0;
};

struct MelBenchRow {
  SimdLevel level = SimdLevel::kScalar;
  std::size_t num_threads = 1;
  std::size_t num_clips = 0;
  double clips_per_s = 0;         // sustained: all clips by wall time
  double median_clips_per_s = 0;  // of groups, times threads
  double best_clips_per_s = 0;    // of groups, times threads
  double cpu_s_per_1000_clips = 0;
  double gflops = 0;       // in the best group, nominal operations, all threads
  double peak_gflops = 0;  // best burst of multiply-adds on one core, times threads
  double share_of_peak = 0;
  double calm = 0;  // middle burst / best burst: 1 on a quiet machine
  std::array<double, audio::kMelStageNames.size()> stage_ns_per_frame{};
  MelDifference difference;
  bool accurate = false;    // first output within tolerance of the f64 reference
  bool repeatable = false;  // every later output equal to the first, byte for byte
};

// Nominal operations of one frame: 2.5 N log2 N for the transform, then what window, magnitude,
// bands and logarithm need.
double mel_flops_per_frame(const config::MelRecipe& recipe);

// `reference` belongs to observe::measuring_clip() and the recipe. Ends early when stopped.
MelBenchRow bench_mel(const MelBenchOptions& options, const MelReference& reference,
                      const std::stop_token& stop);

// GFLOP/s of one short burst of independent multiply-adds, two operations each: the limit of
// arithmetic code on one core, and a gauge of noise. About 90 microseconds: long enough for the
// core to wake its widest units. The best of many bursts is the core's peak; how far the middle one
// is below it tells how busy the machine is.
double fma_burst_gflops(SimdLevel level);

}  // namespace stoker::bench
