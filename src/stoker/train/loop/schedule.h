// The step size of every update, as a pure function of settings and step: nothing to save, and the
// same after a resume.
#pragma once

#include <cstdint>

#include "stoker/config/choices.h"
#include "stoker/config/settings.h"

namespace stoker::train {

struct Schedule {
  config::Scheduler kind = config::Scheduler::kNoam;
  double peak = 1e-4;  // reached at the end of the warm-up
  double lowest = 0;   // never below it after the warm-up
  std::uint64_t warmup_steps = 0;
  std::uint64_t period_steps = 1;  // of cosine, and of the first cosine that restarts
  double restart_factor = 1;       // on the peak at each restart
};

Schedule schedule_of(const config::OptimizerSettings& optimizer);

// `step` counts updates from 1. During the warm-up peak * step / warmup_steps; then
//   constant         the peak
//   noam             peak * sqrt(warmup_steps / step)
//   cosine           from the peak to `lowest` within period_steps, then `lowest`
//   cosine_restarts  the same again and again, each time from a peak restart_factor as high
double learning_rate(const Schedule& schedule, std::uint64_t step);

}  // namespace stoker::train
