// The sampler's thread: what it keeps, what it costs, and that this machine is read as it is.
#include "stoker/observe/machine/machine_sampler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "stoker/base/machine_figures.h"
#include "tests/doubles/sanitizers.h"
#include "tests/observe/machine/planted_machine.h"

namespace stoker::observe {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(MachineSamplerTest, KeepsNoMoreThanItWasTold) {
  PlantedMachine machine;
  machine.keep = seconds(10);
  machine.start();
  const auto from = machine.clock.now();
  for (int i = 0; i < 50; ++i) {
    machine.clock.advance(seconds(1));
    machine.sampler->mark();
  }
  EXPECT_EQ(machine.sampler->window(from, machine.clock.now()).num_samples, 11U);
}

TEST(MachineSamplerTest, WindowOfOneMomentHasNoRates) {
  PlantedMachine machine;
  machine.start();
  const auto at = machine.sampler->mark();
  const MachineWindow window = machine.sampler->window(at, at);
  EXPECT_EQ(window.cpu.busy_cores, std::nullopt);
  EXPECT_EQ(window.memory.minor_faults_per_s, std::nullopt);
  EXPECT_EQ(window.memory.available_share, 0.8);
}

TEST(MachineSamplerTest, SeesTheWorkOfThisProcess) {
  MachineSampler sampler({.data_path = "/proc/self/exe"}, {.every = milliseconds(20)});
  const auto from = sampler.mark();
  const double cpu_before_s = process_cpu_s();
  const Stopwatch watch;
  std::atomic<unsigned> spins = 0;
  while (watch.seconds() < 0.5) ++spins;
  const double own_s = process_cpu_s() - cpu_before_s;
  const MachineWindow window = sampler.window(from, sampler.mark());
  EXPECT_NEAR(window.wall_s, 0.5, 0.4);
  EXPECT_NEAR(window.cpu.own_cores.value() * window.wall_s, own_s, 0.05);
  EXPECT_GE(window.cpu.busy_cores.value() + 0.1, window.cpu.own_cores.value());
  EXPECT_GT(window.memory.available_share.value(), 0);
  EXPECT_FALSE(window.storage.file_system.empty());
  EXPECT_FALSE(window.cpu.threads.empty());
  EXPECT_GE(window.num_samples, 4U);  // two of its own, two marked
}

// What one second of watching costs; the bar has room for a loaded machine, the figure is printed.
TEST(MachineSamplerTest, CostsLessThanAHundredthOfACore) {
  if (kUnderSanitizer) GTEST_SKIP() << "sanitizers slow it down";
  MachineSampler sampler({.data_path = "/proc/self/exe", .data_files = {"/proc/self/exe"}});
  const auto from = sampler.mark();
  std::this_thread::sleep_for(milliseconds(1500));
  const MachineWindow window = sampler.window(from, sampler.mark());
  bool is_seen = false;
  for (const ThreadLoad& load : window.cpu.threads) {
    if (load.name != MachineSampler::kThreadName) continue;
    is_seen = true;
    RecordProperty("cpu_percent", std::to_string(100 * load.cpu_cores));
    EXPECT_LT(load.cpu_cores, 0.01);
  }
  EXPECT_TRUE(is_seen);
}

}  // namespace
}  // namespace stoker::observe
