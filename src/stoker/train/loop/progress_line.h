// The words of a run's figures: the progress line, and the summary of where the time of a step
// goes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stoker/train/loop/learner.h"

namespace stoker::train {

struct ProgressFigures {
  std::uint64_t step = 0;
  LossFigures losses{};
  double clips_per_s = 0;
  double data_ms = 0;  // a step waits for its batches
  double step_ms = 0;
  std::optional<unsigned> gpu_percent{};

  double data_share() const { return step_ms > 0 ? data_ms / step_ms : 0.0; }
};

// "step 1200 | loss 0.83 (dur 0.11 prior 0.30 flow 0.42) | 985 clips/s | data 0.1 ms (0.2 %) | step
// 58.7 ms | GPU 97 %", without the last part where there is no GPU.
std::string progress_text(const ProgressFigures& figures);

struct TimeSummary {
  std::uint64_t epochs_done = 0;
  std::uint64_t num_steps = 0;  // since the last summary
  double step_ms = 0;
  double data_ms = 0;
  double compute_ms = 0;
};

// "epoch 10: 450 steps of 58.7 ms, data 0.1 ms (0.2 %), compute 58.4 ms: …", with the old
// word for the size (data > 30 % of the step) and the verdict of `stoker diagnose`.
std::string summary_text(const TimeSummary& summary);

}  // namespace stoker::train
