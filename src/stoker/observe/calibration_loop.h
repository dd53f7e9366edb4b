// The machine's own noise: a piece of work that never changes, timed beside what is measured.
#pragma once

#include <cstddef>
#include <vector>

namespace stoker::observe {

// About four milliseconds of copying and arithmetic in the calling thread. Not thread-safe.
class CalibrationLoop {
 public:
  // More than this away from the calmest run so far, a window is disturbed.
  static constexpr double kAllowedDrift = 0.10;

  CalibrationLoop();
  // Runs it once; how much longer than the calmest run so far it took (0 = as calm as ever).
  double drift();
  double calmest_s() const { return calmest_s_; }

 private:
  double run_s();

  std::vector<std::byte> from_;
  std::vector<std::byte> to_;
  double calmest_s_;
};

}  // namespace stoker::observe
