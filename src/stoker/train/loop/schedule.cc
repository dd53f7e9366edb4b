#include "stoker/train/loop/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stoker::train {
namespace {

double cosine(double peak, double lowest, double share) {
  return lowest + 0.5 * (peak - lowest) * (1.0 + std::cos(std::numbers::pi * share));
}

double restarting_cosine(const Schedule& schedule, std::uint64_t after) {
  const std::uint64_t num_restarts = after / schedule.period_steps;
  const double share = static_cast<double>(after % schedule.period_steps) /
                       static_cast<double>(schedule.period_steps);
  const double peak =
      schedule.peak * std::pow(schedule.restart_factor, static_cast<double>(num_restarts));
  return cosine(std::max(peak, schedule.lowest), schedule.lowest, share);
}

double after_warmup(const Schedule& schedule, std::uint64_t step) {
  const std::uint64_t after = step - schedule.warmup_steps;
  switch (schedule.kind) {
    case config::Scheduler::kConstant:
      break;
    case config::Scheduler::kNoam: {
      const double warmup = static_cast<double>(std::max<std::uint64_t>(schedule.warmup_steps, 1));
      return schedule.peak * std::sqrt(warmup / static_cast<double>(step));
    }
    case config::Scheduler::kCosine:
      return cosine(
          schedule.peak, schedule.lowest,
          std::min(1.0, static_cast<double>(after) / static_cast<double>(schedule.period_steps)));
    case config::Scheduler::kCosineRestarts:
      return restarting_cosine(schedule, after);
  }
  return schedule.peak;
}

}  // namespace

Schedule schedule_of(const config::OptimizerSettings& optimizer) {
  return {.kind = optimizer.scheduler,
          .peak = optimizer.learning_rate,
          .lowest = optimizer.min_learning_rate,
          .warmup_steps = static_cast<std::uint64_t>(optimizer.warmup_steps),
          .period_steps = static_cast<std::uint64_t>(optimizer.restart_period_steps),
          .restart_factor = optimizer.restart_mult};
}

double learning_rate(const Schedule& schedule, std::uint64_t step) {
  if (step < schedule.warmup_steps)
    return schedule.peak * static_cast<double>(step) / static_cast<double>(schedule.warmup_steps);
  return std::max(after_warmup(schedule, step), schedule.lowest);
}

}  // namespace stoker::train
