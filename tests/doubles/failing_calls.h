// Lets the CUDA calls of a run fail one after the other, on a real GPU.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>

#include "stoker/base/clock.h"
#include "stoker/cuda/check.h"
#include "stoker/cuda/device_api.h"

namespace stoker::cuda {

// What leaked never comes back; what other programs on the same GPU hold does.
inline void expect_free_again(std::uint64_t free_bytes) {
  constexpr std::uint64_t kSlackBytes = std::uint64_t{64} << 20U;  // what the driver may keep
  constexpr double kPatienceS = 30;
  const Stopwatch waited;
  std::uint64_t found_bytes = 0;
  do {
    found_bytes = system_device_api().room(0).free_bytes + kSlackBytes;
    if (found_bytes >= free_bytes) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  } while (waited.seconds() < kPatienceS);
  EXPECT_GE(found_bytes, free_bytes);
}

// `run` returns what it made. Whichever call fails, it must end in a GpuError or make the same;
// afterwards the GPU's memory is free again and a run without a fault works. Of long runs
// `most_faults` calls are tried, evenly spread. Faults that stay belong to a simulated GPU: a real
// one would go on with work whose memory is given back.
template <class Run>
void let_calls_fail(Run run, std::uint64_t most_faults) {
  run();
  plant_call_fault(std::nullopt);
  const auto expected = run();
  const std::uint64_t count = num_calls();
  ASSERT_GT(count, 3U);
  const std::uint64_t free_bytes = system_device_api().room(0).free_bytes;
  for (std::uint64_t at = 0; at < count; at += std::max<std::uint64_t>(1, count / most_faults)) {
    plant_call_fault(CallFault{.at = at, .status = kStatusMemory});
    try {
      EXPECT_EQ(run(), expected) << "call " << at << " of " << count;
    } catch (const GpuError& failure) {
      EXPECT_EQ(failure.exit_code(), ExitCode::kGpu);
    }
    plant_call_fault(std::nullopt);
  }
  EXPECT_EQ(run(), expected);
  expect_free_again(free_bytes);
}

}  // namespace stoker::cuda
