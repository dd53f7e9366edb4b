// The monitor's figures against what it was told, and its verdicts at their limits.
#include "stoker/observe/performance_monitor.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>
#include <tuple>

#include "stoker/observe/diagnose/verdict.h"
#include "tests/doubles/fake_clock.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STOKER_COUNTS_MALLOC 0
#else
#define STOKER_COUNTS_MALLOC 1
#endif

namespace {
thread_local std::size_t num_taken = 0;
}  // namespace

// Counts what is taken from the heap; new goes through malloc, and the monitor uses nothing else.
#if STOKER_COUNTS_MALLOC
extern "C" void* __libc_malloc(std::size_t size);
extern "C" void* malloc(std::size_t size) {
  ++num_taken;
  return __libc_malloc(size);
}
#endif

namespace stoker::observe {
namespace {

using std::chrono::milliseconds;

class SetGauge final : public MachineGauge {
 public:
  explicit SetGauge(const MachineReading& reading) : reading_(reading) {}
  MachineReading read() override { return reading_; }

 private:
  MachineReading reading_;
};

bool has(const BottleneckAnalysis& analysis, std::string_view name) {
  return std::ranges::any_of(analysis.findings, [&](const auto& f) { return f.name == name; });
}

TEST(PerformanceMonitorTest, ATimerAddsTheTimeUntilItsEndAlsoWhenMovedOrLeftByAnException) {
  FakeClock clock;
  PerformanceMonitor monitor({}, clock);
  {
    const auto outer = monitor.time_operation("outer");
    clock.advance(milliseconds(5));
    auto inner = monitor.time_operation("inner");
    const auto moved = std::move(inner);
    clock.advance(milliseconds(2));
  }
  try {
    const auto timer = monitor.time_operation("inner");
    clock.advance(milliseconds(4));
    throw std::runtime_error("left");
  } catch (const std::runtime_error&) {
  }
  const LoopFigures figures = monitor.figures();
  ASSERT_EQ(figures.operations.size(), 2U);
  EXPECT_EQ(figures.operations.at("outer").count, 1U);
  EXPECT_NEAR(figures.operations.at("outer").total_s, 0.007, 1e-12);
  EXPECT_EQ(figures.operations.at("inner").count, 2U);
  EXPECT_NEAR(figures.operations.at("inner").recent.mean_ms, 3, 1e-9);
  EXPECT_NEAR(figures.operations.at("inner").recent.max_ms, 4, 1e-9);
}

TEST(PerformanceMonitorTest, StepsGiveSharesAndRatesOfTheirSums) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> time_s(0.001, 0.1);
  for (int round = 0; round < 20; ++round) {
    PerformanceMonitor monitor;
    double data_s = 0, compute_s = 0;
    const int num_steps = 1 + static_cast<int>(random() % 900);
    for (int i = 0; i < num_steps; ++i) {
      const double data = time_s(random), compute = time_s(random);
      ASSERT_TRUE(monitor.log_step_timing(data, compute, 32));
      data_s += data;
      compute_s += compute;
    }
    const BottleneckAnalysis analysis = monitor.bottleneck_analysis();
    EXPECT_NEAR(analysis.data_share, data_s / (data_s + compute_s), 1e-9);
    EXPECT_NEAR(analysis.data_share + analysis.compute_share, 1, 1e-12);
    EXPECT_NEAR(monitor.report().at("steps").at("samples_per_second").number(),
                32.0 * num_steps / (data_s + compute_s), 1e-6);
  }
}

TEST(PerformanceMonitorTest, TheVerdictIsTheDiagnosis) {
  for (const auto& [data_s, verdict, name] :
       {std::tuple(0.0049, Bottleneck::kCompute, "compute"),
        std::tuple(0.0051, Bottleneck::kDataLoading, "data_loading")}) {
    PerformanceMonitor monitor;
    for (int i = 0; i < 10; ++i) monitor.log_step_timing(data_s, 0.1 - data_s, 8);
    const BottleneckAnalysis analysis = monitor.bottleneck_analysis();
    EXPECT_EQ(analysis.verdict, verdict);
    EXPECT_EQ(bottleneck_name(analysis.verdict), name);
    EXPECT_EQ(verdict_of_stall(analysis.data_share) == LoopVerdict::kStarved,
              verdict == Bottleneck::kDataLoading);
  }
}

TEST(PerformanceMonitorTest, TheOldWordComesAtThirtyPercentOfAStep) {
  for (const auto& [data_s, is_said] : {std::pair(0.029, false), std::pair(0.031, true)}) {
    PerformanceMonitor monitor;
    for (int i = 0; i < 10; ++i) monitor.log_step_timing(data_s, 0.1 - data_s, 8);
    const BottleneckAnalysis analysis = monitor.bottleneck_analysis();
    EXPECT_EQ(has(analysis, "data_loading_bottleneck"), is_said);
    EXPECT_EQ(has(analysis, "long_waits"), is_said);
  }
}

TEST(PerformanceMonitorTest, WordsForSlowBatchesFollowTheOldLimits) {
  for (const auto& [data_s, name] : {std::pair(0.05, "long_waits"), std::pair(0.2, "slow_batches"),
                                     std::pair(0.6, "very_slow_batches")}) {
    PerformanceMonitor monitor;
    monitor.log_step_timing(data_s, 0.01, 1);
    EXPECT_TRUE(has(monitor.bottleneck_analysis(), name)) << data_s;
  }
}

TEST(PerformanceMonitorTest, NothingToldIsNoVerdictAndNoFinding) {
  const PerformanceMonitor monitor;
  const BottleneckAnalysis analysis = monitor.bottleneck_analysis();
  EXPECT_EQ(analysis.verdict, Bottleneck::kUnknown);
  EXPECT_TRUE(analysis.findings.empty());
  EXPECT_NE(monitor.summary_report().find("No step was timed yet."), std::string::npos);
  EXPECT_EQ(monitor.report().at("verdict").text(), "unknown");
}

TEST(PerformanceMonitorTest, ATimeThatIsNoneIsRefused) {
  PerformanceMonitor monitor;
  for (const double bad : {-1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_FALSE(monitor.log_step_timing(bad, 1, 1));
    EXPECT_FALSE(monitor.log_step_timing(1, bad, 1));
    EXPECT_FALSE(monitor.log_operation("x", bad));
  }
  EXPECT_EQ(monitor.figures().steps.count, 0U);
  EXPECT_TRUE(monitor.figures().operations.empty());
}

TEST(PerformanceMonitorTest, UnevenAndCyclicStepsAreNamed) {
  PerformanceMonitor bursts, noise, even;
  std::mt19937 random(3);
  std::exponential_distribution<double> wait_s(100.0);
  for (int i = 0; i < 400; ++i) {
    bursts.log_step_timing(i % 8 == 0 ? 0.2 : 0.0, 0.02, 4);
    noise.log_step_timing(wait_s(random), 0.005, 4);
    even.log_step_timing(0.0001, 0.02, 4);
  }
  EXPECT_EQ(bursts.figures().steps.cyclic_lag, 8U);
  EXPECT_TRUE(has(bursts.bottleneck_analysis(), "cyclic_pattern"));
  EXPECT_TRUE(has(bursts.bottleneck_analysis(), "very_uneven_steps"));
  EXPECT_FALSE(has(noise.bottleneck_analysis(), "cyclic_pattern"));
  EXPECT_TRUE(has(noise.bottleneck_analysis(), "very_uneven_steps"));
  EXPECT_TRUE(even.bottleneck_analysis().findings.empty());
}

TEST(PerformanceMonitorTest, ABusyMachineIsFoundAndAFedGpuIsNotBlamedOnTheLoader) {
  FakeClock clock;
  const MachineReading reading{.cpu_percent = 95, .memory_percent = 90, .gpu_percent = 40};
  PerformanceMonitor monitor({}, clock, std::make_unique<SetGauge>(reading));
  monitor.log_step_timing(0.001, 0.1, 4);
  monitor.sample_now();
  const BottleneckAnalysis analysis = monitor.bottleneck_analysis();
  for (const char* name : {"low_gpu_utilization", "high_cpu_usage", "high_memory_usage"})
    EXPECT_TRUE(has(analysis, name)) << name;
  EXPECT_NE(analysis.findings[0].advice.find("although batches are there"), std::string::npos);
  const Json system = monitor.report().at("system_metrics");
  EXPECT_EQ(system.at("gpu_utilization").number(), 40);
  EXPECT_EQ(system.at("cpu_percent").number(), 95);
}

TEST(PerformanceMonitorTest, HitsOfTheCacheAreShared) {
  PerformanceMonitor monitor;
  EXPECT_FALSE(monitor.figures().cache_hit_share());
  monitor.count_cache_hits(3);
  monitor.count_cache_misses();
  EXPECT_DOUBLE_EQ(*monitor.figures().cache_hit_share(), 0.75);
  EXPECT_NE(monitor.summary_report().find("75.0 % hits (3 of 4)"), std::string::npos);
}

TEST(PerformanceMonitorTest, MemoryIsBoundedByHistoryAndByTheNumberOfNames) {
  PerformanceMonitor monitor({.history = 10});
  const std::size_t num_names = 2 * PerformanceMonitor::kMostOperations;
  for (std::size_t i = 0; i < num_names; ++i) monitor.log_operation("n" + std::to_string(i), 1);
  for (int i = 0; i < 1000; ++i) monitor.log_step_timing(i < 990 ? 1 : 0, 1, 1);
  const LoopFigures figures = monitor.figures();
  EXPECT_EQ(figures.operations.size(), PerformanceMonitor::kMostOperations + 1);
  EXPECT_EQ(figures.operations.at("other operations").count, num_names / 2);
  EXPECT_EQ(figures.steps.count, 1000U);
  EXPECT_EQ(figures.steps.data.num_intervals, 10U);
  EXPECT_EQ(figures.data_share(), 0) << "only the last ten steps are kept";
}

TEST(PerformanceMonitorTest, AStepAndAKnownOperationTakeNothingFromTheHeap) {
  if (!STOKER_COUNTS_MALLOC) GTEST_SKIP() << "a sanitizer has the heap";
  PerformanceMonitor monitor;
  const std::string_view name = "an operation whose name is too long for a small string";
  const std::size_t cold = num_taken;
  static_cast<void>(monitor.time_operation(name));
  EXPECT_GT(num_taken, cold) << "a new name takes memory";
  const std::size_t before = num_taken;
  for (int i = 0; i < 5000; ++i) {
    const auto timer = monitor.time_operation(name);
    monitor.log_step_timing(0.1, 0.2, 2);
    monitor.count_cache_hits();
  }
  EXPECT_EQ(num_taken, before);
}

TEST(PerformanceMonitorTest, ResetForgetsFiguresAndARunningTimerSurvives) {
  FakeClock clock;
  PerformanceMonitor monitor({}, clock);
  {
    const auto timer = monitor.time_operation("x");
    monitor.log_operation("x", 5);
    monitor.log_step_timing(1, 1, 1);
    monitor.reset();
    clock.advance(milliseconds(1));
  }
  EXPECT_EQ(monitor.figures().steps.count, 0U);
  EXPECT_EQ(monitor.figures().operations.at("x").count, 1U);
}

TEST(PerformanceMonitorTest, ThreadsLoseNothing) {
  PerformanceMonitor monitor({.history = 16});
  {
    std::vector<Thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back("logs", [&monitor](const std::stop_token&) {
        for (int i = 0; i < 2000; ++i) {
          const auto timer = monitor.time_operation("both");
          monitor.log_step_timing(0.1, 0.2, 2);
          monitor.count_cache_hits();
          if (i % 500 == 0) static_cast<void>(monitor.summary_report());
        }
      });
  }
  const LoopFigures figures = monitor.figures();
  EXPECT_EQ(figures.steps.count, 8000U);
  EXPECT_EQ(figures.steps.num_samples, 16000U);
  EXPECT_EQ(figures.operations.at("both").count, 8000U);
  EXPECT_EQ(figures.num_cache_hits, 8000U);
}

TEST(PerformanceMonitorTest, TheMachinesOwnGaugeReadsPercentages) {
  PerformanceMonitor monitor;
  monitor.sample_now();
  const LoopFigures::Machine machine = monitor.figures().machine;
  EXPECT_EQ(machine.num_readings, 1U);
  EXPECT_GT(machine.memory_percent, 0);
  EXPECT_LE(machine.memory_percent, 100);
  EXPECT_LE(machine.cpu_percent, 100);
}

TEST(PerformanceMonitorTest, SamplingTakesReadingsUntilStoppedAndAForkedChildEnds) {
  const MachineReading reading{.cpu_percent = 10};
  auto monitor =
      std::make_unique<PerformanceMonitor>(MonitorOptions{.sample_every = milliseconds(1)},
                                           system_clock(), std::make_unique<SetGauge>(reading));
  monitor->start_sampling();
  monitor->start_sampling();
  EXPECT_TRUE(monitor->is_sampling());
  while (monitor->figures().machine.num_readings < 3) std::this_thread::sleep_for(milliseconds(1));
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const bool was_sampling = monitor->is_sampling();
    monitor.reset();
    _exit(was_sampling ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "a signal here is the alarm of a child that hung";
  monitor->stop_sampling();
  EXPECT_FALSE(monitor->is_sampling());
  const std::uint64_t taken = monitor->figures().machine.num_readings;
  std::this_thread::sleep_for(milliseconds(5));
  EXPECT_EQ(monitor->figures().machine.num_readings, taken);
  EXPECT_DOUBLE_EQ(monitor->figures().machine.cpu_percent, 10);
}

}  // namespace
}  // namespace stoker::observe
