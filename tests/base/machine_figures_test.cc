// What the kernel tells about processor time and memory is read as it means it.
#include <gtest/gtest.h>

#include <thread>

#include "stoker/base/clock.h"
#include "stoker/base/machine_figures.h"

namespace stoker {
namespace {

TEST(CpuTimeTest, WorkCountsForThreadAndProcess) {
  const double process_before = process_cpu_s();
  const double thread_before = thread_cpu_s();
  while (thread_cpu_s() - thread_before < 0.02) {
  }
  EXPECT_GE(process_cpu_s() - process_before, 0.019);
}

TEST(CpuTimeTest, SleepDoesNot) {
  const double before = thread_cpu_s();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_LT(thread_cpu_s() - before, 0.02);
}

TEST(CpuTimeTest, IdleTimeGoesForwardAndNotFasterThanTheCores) {
  const Stopwatch watch;
  const double before = machine_idle_s();
  EXPECT_GT(before, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const double idle = machine_idle_s() - before;
  EXPECT_GE(idle, 0);
  EXPECT_LE(idle, (watch.seconds() + 0.1) * std::thread::hardware_concurrency());
}

TEST(FreeMemoryTest, IsBetweenNothingAndEverything) {
  EXPECT_GT(available_memory_bytes(), std::uint64_t{1} << 20U);
  EXPECT_LT(available_memory_bytes(), std::uint64_t{1} << 50U);
}

}  // namespace
}  // namespace stoker
