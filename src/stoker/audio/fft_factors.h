// How a transform length splits into radices, with the twiddle factors of each stage.
#pragma once

#include <cstddef>
#include <vector>

namespace stoker::audio {

// One Stockham stage: `length` = radix * m points are cut into m butterflies, `stride` side by
// side.
struct FftStage {
  std::size_t radix = 0;
  std::size_t length = 0;
  std::size_t stride = 0;
  std::vector<float> twiddles;  // [m][radix-1] pairs: exp(-2*pi*i*p*k/length), k = 1..radix-1
  std::vector<float> roots;     // exp(-2*pi*i*j/radix), pairs; only for radices without own code
};

// A real transform of n points: an even n runs as n/2 complex points and is taken apart at the end.
struct FftFactors {
  explicit FftFactors(std::size_t n_fft);

  std::size_t n_fft;
  std::size_t num_points;  // complex points: n_fft/2, or n_fft when that is odd
  std::vector<FftStage> stages;
  std::vector<float> split;  // even n: exp(-2*pi*i*k/n) pairs, k = 0..n/2
};

}  // namespace stoker::audio
