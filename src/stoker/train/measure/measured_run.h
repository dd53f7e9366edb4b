// Training that is measured: the feed, learner and steps of a run, without evaluation, and the same
// steps over batches that stay in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "stoker/base/json.h"
#include "stoker/config/settings.h"
#include "stoker/observe/nvml_sampler.h"
#include "stoker/train/loop/training_run.h"

namespace stoker::train {

enum class MeasureMode : std::uint8_t {
  kFeed,      // steps fed by the loader
  kResident,  // steps over batches that stay
  kBoth,      // the fed ones between two windows of the others
};

// "feed", "resident", "both"; E-TRAIN-SETTINGS for another.
MeasureMode measure_mode_from(std::string_view name);

struct MeasureRequest {
  bool is_naive = false;  // the naive loader reads sound files in the loop's own thread
  double seconds = 10;    // of fed steps; of resident ones with kResident
  double warmup_s = 2;    // of fed steps that are not counted, after every shape was met
  MeasureMode mode = MeasureMode::kBoth;
  bool with_steps = false;  // the result lists every step
  // Run folder for what the fed steps have learned; empty: nothing is saved. Its steps count those
  // before the window too.
  std::string keep{};
  // Opened for the window of fed steps on a GPU; tests bring their own.
  std::function<observe::GpuGauge(int device)> open_gauge = observe::open_gpu_gauge;
};

// The result: loader, mode, device, model_size, precision, parameters, batch_size, batch_frames,
// num_workers, graphs{…}, the figures of the fed window (measured_figures.h, GpuTimeline), au,
// au_error, au_coverage, kept, resident{…}, memory{…}, fallbacks{…}, stopped.
// Throws Failure; E-TRAIN-DATA where the window was too short for two steps.
Json run_measurement(const config::Settings& settings, const MeasureRequest& request,
                     const TrainingHooks& hooks);

}  // namespace stoker::train
