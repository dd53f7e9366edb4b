#include "stoker/audio/fft_factors.h"

#include <cmath>
#include <numbers>

namespace stoker::audio {
namespace {

void append_root(std::vector<float>& table, std::size_t numerator, std::size_t denominator) {
  const double turn =
      static_cast<double>(numerator % denominator) / static_cast<double>(denominator);
  table.push_back(static_cast<float>(std::cos(2.0 * std::numbers::pi * turn)));
  table.push_back(static_cast<float>(-std::sin(2.0 * std::numbers::pi * turn)));
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

FftStage make_stage(std::size_t radix, std::size_t length, std::size_t stride) {
  FftStage stage{.radix = radix, .length = length, .stride = stride, .twiddles = {}, .roots = {}};
  for (std::size_t p = 0; p < length / radix; ++p) {
    for (std::size_t k = 1; k < radix; ++k) append_root(stage.twiddles, p * k, length);
  }
  for (std::size_t j = 0; radix > 5 && j < radix; ++j) append_root(stage.roots, j, radix);
  return stage;
}

}  // namespace

FftFactors::FftFactors(std::size_t n) : n_fft(n), num_points(n % 2 == 0 ? n / 2 : n) {
  std::size_t stride = 1;
  for (std::size_t length = num_points; length > 1;) {
    const std::size_t radix = next_radix(length);
    stages.push_back(make_stage(radix, length, stride));
    length /= radix;
    stride *= radix;
  }
  for (std::size_t k = 0; n % 2 == 0 && k <= n / 2; ++k) append_root(split, k, n);
}

}  // namespace stoker::audio
