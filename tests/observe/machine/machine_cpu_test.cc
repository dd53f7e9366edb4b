// Cores, threads, quotas and pressure of a machine whose files a test plants.
#include <gtest/gtest.h>

#include <filesystem>

#include "stoker/observe/machine/cpu_files.h"
#include "tests/doubles/fault_io.h"
#include "tests/observe/machine/planted_machine.h"

namespace stoker::observe {
namespace {

TEST(MachineCpuTest, NeighboursAreWhatTheAllowedCoresDidBesideUs) {
  PlantedMachine machine;
  const MachineWindow window = machine.over([&] {
    machine.put("proc/stat", PlantedMachine::stat_text(100, 20, 200));
    machine.put("proc/self/stat", PlantedMachine::own_text(10, 4, 60));
  });
  EXPECT_EQ(window.wall_s, 2);
  EXPECT_EQ(window.cpu.num_allowed_cores, 2U);
  EXPECT_DOUBLE_EQ(window.cpu.busy_cores.value(), 2);  // four cores, each half of two seconds
  EXPECT_DOUBLE_EQ(window.cpu.own_cores.value(), 0.3);
  EXPECT_DOUBLE_EQ(window.cpu.other_cores.value(), 0.7);
  EXPECT_DOUBLE_EQ(window.cpu.steal_share.value(), 0.1);
  EXPECT_EQ(window.memory.minor_faults_per_s, 5);
  EXPECT_EQ(window.memory.major_faults_per_s, 2);
  EXPECT_EQ(window.cpu.quota_cores, std::nullopt);
  EXPECT_EQ(window.cpu.num_throttled, std::nullopt);
}

TEST(MachineCpuTest, ThreadsOfOneNameAreOneLineAndTheOneThatWaitedIsFirst) {
  PlantedMachine machine;
  machine.put_thread(7, "feed-worker", 1000, 1000);
  machine.put_thread(8, "feed-worker", 0, 0);
  machine.put_thread(9, "main", 0, 0);
  machine.put_thread(11, "ends", 5, 5);
  const MachineWindow window = machine.over([&] {
    machine.put_thread(7, "feed-worker", 1'000'001'000, 500'001'000);
    machine.put_thread(8, "feed-worker", 1'000'000'000, 500'000'000);
    machine.put_thread(9, "main", 0, 2'000'000'000);
    machine.put_thread(10, "begins", 500'000'000, 0);
    std::filesystem::remove_all(machine.root / "proc/self/task/11");
  });
  EXPECT_DOUBLE_EQ(window.cpu.run_queue_wait.value(), 1.5);
  ASSERT_EQ(window.cpu.threads.size(), 3U);
  EXPECT_EQ(window.cpu.threads[0].name, "main");
  EXPECT_EQ(window.cpu.threads[1].name, "feed-worker");
  EXPECT_EQ(window.cpu.threads[1].num_threads, 2U);
  EXPECT_DOUBLE_EQ(window.cpu.threads[1].cpu_cores, 1);
  EXPECT_DOUBLE_EQ(window.cpu.threads[1].run_queue_wait, 0.5);
  EXPECT_DOUBLE_EQ(window.cpu.threads[2].cpu_cores, 0.25);
}

TEST(MachineCpuTest, ThreadThatNamesItselfLaterHasThatName) {
  PlantedMachine machine;
  machine.put_thread(7, "stoker", 0, 0);
  const MachineWindow window =
      machine.over([&] { machine.put_thread(7, "stoker-fill-0", 1'000'000'000, 0); });
  ASSERT_EQ(window.cpu.threads.size(), 1U);
  EXPECT_EQ(window.cpu.threads[0].name, "stoker-fill-0");
}

TEST(MachineCpuTest, ThreadThatEndsWhileItIsReadIsLeftOut) {
  PlantedMachine machine;
  machine.put_thread(7, "stays", 0, 0);
  machine.put("proc/self/task/8/comm", "gone\n");  // its schedstat is not there any more
  const MachineWindow window =
      machine.over([&] { machine.put_thread(7, "stays", 1'000'000'000, 0); });
  ASSERT_EQ(window.cpu.threads.size(), 1U);
  EXPECT_EQ(window.cpu.threads[0].name, "stays");
}

TEST(MachineCpuTest, QuotaOfVersion2IsTheSmallestUpTheTreeAndItsGroupCountsTheStops) {
  PlantedMachine machine;
  machine.put("proc/self/cgroup", "0::/pod/job\n");
  machine.put("sys/fs/cgroup/pod/job/cpu.max", "max 100000\n");
  machine.put("sys/fs/cgroup/pod/cpu.max", "150000 100000\n");
  machine.put("sys/fs/cgroup/pod/cpu.stat", "usage_usec 5\nnr_periods 10\nnr_throttled 1\n");
  const MachineWindow window = machine.over([&] {
    machine.put("sys/fs/cgroup/pod/cpu.stat", "usage_usec 9\nnr_periods 30\nnr_throttled 16\n");
  });
  EXPECT_EQ(window.cpu.quota_cores, 1.5);
  EXPECT_EQ(window.cpu.num_throttled, 15U);
  EXPECT_EQ(window.cpu.throttled_share, 0.75);
}

TEST(MachineCpuTest, QuotaOfVersion1) {
  PlantedMachine machine;
  machine.put("proc/self/cgroup", "4:cpu,cpuacct:/docker/1f\n3:memory:/docker/1f\n0::/\n");
  // Of the host's path a container sees only the top.
  machine.put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000\n");
  machine.put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  machine.put("sys/fs/cgroup/cpu,cpuacct/cpu.stat", "nr_periods 0\nnr_throttled 0\n");
  const MachineWindow window = machine.over([&] {
    machine.put("sys/fs/cgroup/cpu,cpuacct/cpu.stat", "nr_periods 20\nnr_throttled 20\n");
  });
  EXPECT_EQ(window.cpu.quota_cores, 0.5);
  EXPECT_EQ(window.cpu.throttled_share, 1);
}

TEST(MachineCpuTest, QuotaOfMinusOneIsNone) {
  PlantedMachine machine;
  machine.put("proc/self/cgroup", "1:cpu:/\n");
  machine.put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  machine.put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(machine.over([] {}).cpu.quota_cores, std::nullopt);
}

TEST(MachineCpuTest, PressureIsTheShareOfTimeAndAbsentOnOldKernels) {
  PlantedMachine machine;
  const MachineWindow window = machine.over([&] { machine.put_pressure("cpu", 500'000); });
  EXPECT_EQ(window.cpu.pressure, 0.25);
  EXPECT_EQ(window.memory.pressure, 0);
  PlantedMachine old;
  std::filesystem::remove_all(old.root / "proc/pressure");
  EXPECT_EQ(old.over([] {}).cpu.pressure, std::nullopt);
}

TEST(MachineCpuTest, CountersThatGoBackwardsGiveNothing) {
  PlantedMachine machine;
  machine.put("proc/stat", PlantedMachine::stat_text(500, 100, 200));
  machine.put("proc/self/stat", PlantedMachine::own_text(100, 100, 900));
  machine.put_pressure("io", 900);
  const MachineWindow window = machine.over([&] {
    machine.put("proc/stat", PlantedMachine::stat_text(100, 20));
    machine.put("proc/self/stat", PlantedMachine::own_text(10, 4, 60));
    machine.put_pressure("io", 100);
  });
  EXPECT_EQ(window.cpu.busy_cores, std::nullopt);
  EXPECT_EQ(window.cpu.other_cores, std::nullopt);
  EXPECT_EQ(window.cpu.steal_share, std::nullopt);
  EXPECT_EQ(window.memory.minor_faults_per_s, std::nullopt);
  EXPECT_EQ(window.storage.pressure, std::nullopt);
}

TEST(MachineCpuTest, MachineThatTellsNothingGivesNoFigureAndNoError) {
  PlantedMachine machine;
  std::filesystem::remove_all(machine.root / "proc");
  const MachineWindow window = machine.over([] {});
  EXPECT_EQ(window.cpu.busy_cores, std::nullopt);
  EXPECT_EQ(window.cpu.own_cores, std::nullopt);
  EXPECT_EQ(window.cpu.run_queue_wait, std::nullopt);
  EXPECT_EQ(window.memory.available_share, std::nullopt);
  EXPECT_GE(window.cpu.num_allowed_cores, 1U);
  EXPECT_EQ(window.json().at("cpu").at("busy_cores").dump(), "null");
}

TEST(MachineCpuTest, ReadsThatFailGiveNoFigureAndNoError) {
  FaultIo io;
  PlantedMachine machine;
  machine.sources.io = &io;
  machine.start();
  const auto from = machine.sampler->mark();
  machine.clock.advance(std::chrono::seconds(2));
  io.plan({.calls = {IoCall::kRead}, .repeat = Fault::Repeat::kFromThenOn});
  const MachineWindow window = machine.sampler->window(from, machine.sampler->mark());
  EXPECT_EQ(window.cpu.busy_cores, std::nullopt);
  EXPECT_EQ(window.num_samples, 3U);  // with the thread's own
  machine.sampler.reset();            // reads through `io` until here
  EXPECT_EQ(io.num_open_handles(), 0U);
}

TEST(MachineCpuTest, ListsOfCores) {
  EXPECT_EQ(cores_of_list("0-2,5"), (std::vector<unsigned>{0, 1, 2, 5}));
  EXPECT_EQ(cores_of_list("7"), (std::vector<unsigned>{7}));
  EXPECT_TRUE(cores_of_list("").empty());
  EXPECT_TRUE(cores_of_list("none").empty());
}

}  // namespace
}  // namespace stoker::observe
