#include "stoker/observe/calibration_loop.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "stoker/base/clock.h"
#include "stoker/base/invariant.h"

namespace stoker::observe {
namespace {

// Larger than a core's own caches, so that a neighbour's memory traffic is felt as well.
constexpr std::size_t kCopyBytes = std::size_t{8} << 20U;
constexpr int kDraws = 1'000'000;
constexpr int kFirstRuns = 5;
constexpr int kTries = 3;

}  // namespace

CalibrationLoop::CalibrationLoop()
    : from_(kCopyBytes, std::byte{1}), to_(kCopyBytes), calmest_s_(run_s()) {
  for (int i = 0; i < kFirstRuns; ++i) calmest_s_ = std::min(calmest_s_, run_s());
}

double CalibrationLoop::run_s() {
  const Stopwatch watch;
  std::memcpy(to_.data(), from_.data(), kCopyBytes);
  std::uint64_t state = 1;
  for (int i = 0; i < kDraws; ++i) state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  check_invariant(state != 0 && to_.back() == std::byte{1}, "the calibration loop did not run");
  return watch.seconds();
}

double CalibrationLoop::drift() {
  double best_s = run_s();
  // A single late timer interrupt is not a disturbed machine.
  for (int i = 1; i < kTries; ++i) best_s = std::min(best_s, run_s());
  calmest_s_ = std::min(calmest_s_, best_s);
  return best_s / calmest_s_ - 1;
}

}  // namespace stoker::observe
