// How a transform length splits into radices, with the twiddle factors of each stage.
#pragma once

#include <cstddef>
#include <vector>

namespace stoker::audio {

// 4 as often as possible, then 2, 3, 5 and what else divides; their product is num_points.
std::vector<std::size_t> fft_radices(std::size_t num_points);

// One Stockham stage: `length` = radix * m points are cut into m butterflies, `stride` side by
// side.
template <class Real>
struct FftStageOf {
  std::size_t radix = 0;
  std::size_t length = 0;
  std::size_t stride = 0;
  std::vector<Real> twiddles;  // [m][radix-1] pairs: exp(-2*pi*i*p*k/length), k = 1..radix-1
  std::vector<Real> roots;     // exp(-2*pi*i*j/radix), pairs; only for radices without own code
};

// A real transform of n points: an even n runs as n/2 complex points and is taken apart at the end.
template <class Real>
struct FftFactorsOf {
  explicit FftFactorsOf(std::size_t n_fft);

  std::size_t n_fft;
  std::size_t num_points;  // complex points: n_fft/2, or n_fft when that is odd
  std::vector<FftStageOf<Real>> stages;
  std::vector<Real> split;  // even n: exp(-2*pi*i*k/n) pairs, k = 0..n/2
};

extern template struct FftFactorsOf<float>;
extern template struct FftFactorsOf<double>;

using FftStage = FftStageOf<float>;
using FftFactors = FftFactorsOf<float>;

}  // namespace stoker::audio
