// Step sizes against values worked out by hand.
#include "stoker/train/loop/schedule.h"

#include <gtest/gtest.h>

namespace stoker::train {
namespace {

using config::Scheduler;

struct Case {
  const char* what;
  Schedule schedule;
  std::uint64_t step;
  double expected;
};

TEST(ScheduleTest, ValuesByHand) {
  const Schedule noam{.kind = Scheduler::kNoam, .peak = 1e-4, .lowest = 1e-7, .warmup_steps = 4000};
  const Schedule flat{.kind = Scheduler::kConstant, .peak = 2e-3, .warmup_steps = 30};
  const Schedule cosine{.kind = Scheduler::kCosine,
                        .peak = 1.0,
                        .lowest = 0.2,
                        .warmup_steps = 10,
                        .period_steps = 100};
  const Schedule restarts{.kind = Scheduler::kCosineRestarts,
                          .peak = 8e-5,
                          .lowest = 1e-7,
                          .warmup_steps = 0,
                          .period_steps = 8000,
                          .restart_factor = 0.8};
  const Schedule bare{.kind = Scheduler::kNoam, .peak = 0.1, .lowest = 1e-3, .warmup_steps = 0};
  const Case cases[] = {
      {"first of a warm-up", noam, 1, 2.5e-8},
      {"half of a warm-up", noam, 2000, 5e-5},
      {"peak", noam, 4000, 1e-4},
      {"four times the warm-up", noam, 16000, 5e-5},
      {"never below the lowest", noam, 40'000'000'000, 1e-7},
      {"constant warms up", flat, 15, 1e-3},
      {"constant", flat, 30, 2e-3},
      {"constant without end", flat, 1'000'000, 2e-3},
      {"cosine at its peak", cosine, 10, 1.0},
      {"cosine half way", cosine, 60, 0.6},
      {"cosine a quarter", cosine, 35, 0.2 + 0.4 * (1 + 0.70710678118654752)},
      {"cosine at its end", cosine, 110, 0.2},
      {"cosine behind its end", cosine, 5000, 0.2},
      {"restarts half way", restarts, 4000, 1e-7 + 0.5 * (8e-5 - 1e-7)},
      {"first restart", restarts, 8000, 6.4e-5},
      {"second restart", restarts, 16000, 5.12e-5},
      {"half of the second period", restarts, 12000, 1e-7 + 0.5 * (6.4e-5 - 1e-7)},
      {"peaks that fell below the lowest", restarts, 8000 * 100, 1e-7},
      {"no warm-up", bare, 1, 0.1},
      {"no warm-up, later", bare, 4, 0.05},
  };
  for (const Case& each : cases)
    EXPECT_NEAR(learning_rate(each.schedule, each.step), each.expected, 1e-12 * each.expected)
        << each.what;
}

TEST(ScheduleTest, TakesTheSettings) {
  config::OptimizerSettings optimizer;
  optimizer.scheduler = Scheduler::kCosineRestarts;
  optimizer.learning_rate = 0.5;
  optimizer.min_learning_rate = 0.25;
  optimizer.warmup_steps = 7;
  optimizer.restart_period_steps = 11;
  optimizer.restart_mult = 0.9;
  const Schedule schedule = schedule_of(optimizer);
  EXPECT_EQ(schedule.kind, Scheduler::kCosineRestarts);
  EXPECT_EQ(schedule.peak, 0.5);
  EXPECT_EQ(schedule.lowest, 0.25);
  EXPECT_EQ(schedule.warmup_steps, 7U);
  EXPECT_EQ(schedule.period_steps, 11U);
  EXPECT_EQ(schedule.restart_factor, 0.9);
}

}  // namespace
}  // namespace stoker::train
