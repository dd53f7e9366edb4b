#include "stoker/audio/mel/fft_factors.h"

#include <cmath>
#include <numbers>

namespace stoker::audio {
namespace {

template <class Real>
void append_root(std::vector<Real>& table, std::size_t numerator, std::size_t denominator) {
  const double turn =
      static_cast<double>(numerator % denominator) / static_cast<double>(denominator);
  table.push_back(static_cast<Real>(std::cos(2.0 * std::numbers::pi * turn)));
  table.push_back(static_cast<Real>(-std::sin(2.0 * std::numbers::pi * turn)));
}

std::size_t next_radix(std::size_t n) {
  for (const std::size_t radix : {4U, 2U, 3U, 5U}) {
    if (n % radix == 0) return radix;
  }
  for (std::size_t radix = 7; radix * radix <= n; radix += 2) {
    if (n % radix == 0) return radix;
  }
  return n;
}

template <class Real>
FftStageOf<Real> make_stage(std::size_t radix, std::size_t length, std::size_t stride) {
  FftStageOf<Real> stage{
      .radix = radix, .length = length, .stride = stride, .twiddles = {}, .roots = {}};
  for (std::size_t p = 0; p < length / radix; ++p) {
    for (std::size_t k = 1; k < radix; ++k) append_root(stage.twiddles, p * k, length);
  }
  for (std::size_t j = 0; radix > 5 && j < radix; ++j) append_root(stage.roots, j, radix);
  return stage;
}

}  // namespace

std::vector<std::size_t> fft_radices(std::size_t num_points) {
  std::vector<std::size_t> radices;
  while (num_points > 1) {
    radices.push_back(next_radix(num_points));
    num_points /= radices.back();
  }
  return radices;
}

template <class Real>
FftFactorsOf<Real>::FftFactorsOf(std::size_t n) : n_fft(n), num_points(n % 2 == 0 ? n / 2 : n) {
  std::size_t stride = 1;
  for (const std::size_t radix : fft_radices(num_points)) {
    stages.push_back(make_stage<Real>(radix, num_points / stride, stride));
    stride *= radix;
  }
  for (std::size_t k = 0; n % 2 == 0 && k <= n / 2; ++k) append_root(split, k, n);
}

template struct FftFactorsOf<float>;
template struct FftFactorsOf<double>;

}  // namespace stoker::audio
