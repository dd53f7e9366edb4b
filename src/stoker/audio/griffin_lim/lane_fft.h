// Complex FFTs of several signals side by side, one a lane, so that plain loops become SIMD code.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stoker/base/simd_level.h"

namespace stoker::audio {

inline constexpr std::size_t kFftLanes = 8;

// Immutable; any size whose prime factors are small is fast (2, 3, 4, 5), others work and are
// slower. Value i of lane l is at [i * kFftLanes + l] of the real and of the imaginary array.
class LaneFft {
 public:
  // Precondition: this machine has the level.
  LaneFft(std::size_t num_points, SimdLevel level);

  std::size_t num_points() const noexcept { return num_points_; }
  // Floats in each of the arrays that run() works on.
  std::size_t num_values() const noexcept { return num_points_ * kFftLanes; }

  struct Stage {
    std::size_t radix;
    std::size_t num_groups;  // butterflies that differ in their twiddles
    std::size_t stride;      // butterflies that share them
    std::size_t twiddles_at;
  };
  // For a GPU, which runs the same stages with the same factors.
  std::span<const Stage> stages() const noexcept { return stages_; }
  std::span<const float> twiddles() const noexcept { return twiddles_; }

  struct Signal {
    float* real;
    float* imaginary;
  };
  // X[k] = sum x[n] exp(-2 pi i n k / N), in place; `scratch` is of the same size and is
  // overwritten.
  void forward(Signal signal, Signal scratch) const;
  // The same with exp(+…), not divided by N.
  void backward(Signal signal, Signal scratch) const { forward(swapped(signal), swapped(scratch)); }

 private:
  // Exchanging the parts before and after a forward transform gives the backward one.
  static Signal swapped(Signal signal) { return {signal.imaginary, signal.real}; }

  void run_stage(const Stage& stage, Signal in, Signal out) const;
  void run_stage_avx2(const Stage& stage, Signal in, Signal out) const;
  void run_stage_plain(const Stage& stage, Signal in, Signal out) const;

  std::size_t num_points_;
  bool has_avx2_;
  std::vector<Stage> stages_;
  std::vector<float> twiddles_;  // per stage: radix - 1 pairs a group, then the roots of unity
};

}  // namespace stoker::audio
