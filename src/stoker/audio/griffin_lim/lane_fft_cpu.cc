// Stockham's self-sorting FFT with mixed radices: each stage reads one array and writes the other.
#include "stoker/audio/griffin_lim/lane_fft.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <utility>

#include "stoker/audio/mel/fft_factors.h"
#include "stoker/base/invariant.h"

namespace stoker::audio {
namespace {

constexpr std::size_t kLanes = kFftLanes;

// exp(-2 pi i index / count)
std::pair<float, float> root(std::size_t index, std::size_t count) {
  const double angle =
      -2.0 * std::numbers::pi * static_cast<double>(index % count) / static_cast<double>(count);
  return {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
}

// All lanes of one value; the compiler makes it one AVX register or two SSE ones.
using Lanes [[gnu::vector_size(kLanes * sizeof(float))]] = float;

struct Complex {
  Lanes re;
  Lanes im;
};

struct Butterfly {
  const float* in_real;
  const float* in_imaginary;
  std::size_t in_step;  // values between the inputs
  float* out_real;
  float* out_imaginary;
  std::size_t out_step;
  const float* twiddles;
};

[[gnu::always_inline]] inline Complex input(const Butterfly& b, std::size_t index) {
  Complex value;
  std::memcpy(&value.re, b.in_real + index * b.in_step, sizeof(Lanes));
  std::memcpy(&value.im, b.in_imaginary + index * b.in_step, sizeof(Lanes));
  return value;
}

[[gnu::always_inline]] inline void store(const Butterfly& b, std::size_t index,
                                         const Complex& value) {
  std::memcpy(b.out_real + index * b.out_step, &value.re, sizeof(Lanes));
  std::memcpy(b.out_imaginary + index * b.out_step, &value.im, sizeof(Lanes));
}

// Output `index` > 0, turned by its twiddle.
[[gnu::always_inline]] inline void store_turned(const Butterfly& b, std::size_t index,
                                                const Complex& value) {
  const float wr = b.twiddles[2 * index - 2];
  const float wi = b.twiddles[2 * index - 1];
  store(b, index, {value.re * wr - value.im * wi, value.re * wi + value.im * wr});
}

[[gnu::always_inline]] inline void radix2(const Butterfly& b) {
  const Complex x0 = input(b, 0);
  const Complex x1 = input(b, 1);
  store(b, 0, {x0.re + x1.re, x0.im + x1.im});
  store_turned(b, 1, {x0.re - x1.re, x0.im - x1.im});
}

[[gnu::always_inline]] inline void radix4(const Butterfly& b) {
  const Complex x0 = input(b, 0), x1 = input(b, 1), x2 = input(b, 2), x3 = input(b, 3);
  const Complex sum02{x0.re + x2.re, x0.im + x2.im}, diff02{x0.re - x2.re, x0.im - x2.im};
  const Complex sum13{x1.re + x3.re, x1.im + x3.im}, diff13{x1.re - x3.re, x1.im - x3.im};
  store(b, 0, {sum02.re + sum13.re, sum02.im + sum13.im});
  store_turned(b, 1, {diff02.re + diff13.im, diff02.im - diff13.re});
  store_turned(b, 2, {sum02.re - sum13.re, sum02.im - sum13.im});
  store_turned(b, 3, {diff02.re - diff13.im, diff02.im + diff13.re});
}

// Any radix by its definition; `roots` are exp(-2 pi i k / radix).
[[gnu::always_inline]] inline void radix_any(const Butterfly& b, std::size_t radix,
                                             const float* roots) {
  for (std::size_t k = 0; k < radix; ++k) {
    Complex sum = input(b, 0);
    for (std::size_t j = 1; j < radix; ++j) {
      const float wr = roots[2 * (j * k % radix)];
      const float wi = roots[2 * (j * k % radix) + 1];
      const Complex x = input(b, j);
      sum.re += x.re * wr - x.im * wi;
      sum.im += x.re * wi + x.im * wr;
    }
    if (k == 0) {
      store(b, 0, sum);
    } else {
      store_turned(b, k, sum);
    }
  }
}

}  // namespace

LaneFft::LaneFft(std::size_t num_points, SimdLevel level)
    : num_points_(num_points), has_avx2_(level == SimdLevel::kAvx2 || level == SimdLevel::kAvx512) {
  check_invariant(num_points > 0, "an FFT of no points");
  std::size_t length = num_points;
  std::size_t stride = 1;
  for (const std::size_t radix : fft_radices(num_points)) {
    const std::size_t num_groups = length / radix;
    stages_.push_back({radix, num_groups, stride, twiddles_.size()});
    for (std::size_t group = 0; group < num_groups; ++group) {
      for (std::size_t k = 1; k < radix; ++k) {
        const auto [re, im] = root(group * k, length);
        twiddles_.insert(twiddles_.end(), {re, im});
      }
    }
    for (std::size_t k = 0; radix != 2 && radix != 4 && k < radix; ++k) {
      const auto [re, im] = root(k, radix);
      twiddles_.insert(twiddles_.end(), {re, im});
    }
    length = num_groups;
    stride *= radix;
  }
}

// One stage, compiled once for every x86-64 and once with AVX2. Nothing is contracted, so both give
// the same bytes.
[[gnu::always_inline]] inline void LaneFft::run_stage(const Stage& stage, Signal in,
                                                      Signal out) const {
  const std::size_t in_step = stage.num_groups * stage.stride * kLanes;
  const std::size_t out_step = stage.stride * kLanes;
  const float* roots =
      twiddles_.data() + stage.twiddles_at + stage.num_groups * (stage.radix - 1) * 2;
  for (std::size_t group = 0; group < stage.num_groups; ++group) {
    const float* twiddles = twiddles_.data() + stage.twiddles_at + group * (stage.radix - 1) * 2;
    for (std::size_t q = 0; q < stage.stride; ++q) {
      const std::size_t from = (group * stage.stride + q) * kLanes;
      const std::size_t to = (group * stage.stride * stage.radix + q) * kLanes;
      const Butterfly butterfly{in.real + from, in.imaginary + from, in_step,
                                out.real + to,  out.imaginary + to,  out_step,
                                twiddles};
      if (stage.radix == 4) {
        radix4(butterfly);
      } else if (stage.radix == 2) {
        radix2(butterfly);
      } else {
        radix_any(butterfly, stage.radix, roots);
      }
    }
  }
}

[[gnu::target("avx2")]] void LaneFft::run_stage_avx2(const Stage& stage, Signal in,
                                                     Signal out) const {
  run_stage(stage, in, out);
}

void LaneFft::run_stage_plain(const Stage& stage, Signal in, Signal out) const {
  run_stage(stage, in, out);
}

void LaneFft::forward(Signal signal, Signal scratch) const {
  Signal in = signal;
  Signal out = scratch;
  for (const Stage& stage : stages_) {
    if (has_avx2_) {
      run_stage_avx2(stage, in, out);
    } else {
      run_stage_plain(stage, in, out);
    }
    std::swap(in, out);
  }
  if (in.real == signal.real) return;
  std::copy_n(in.real, num_values(), signal.real);
  std::copy_n(in.imaginary, num_values(), signal.imaginary);
}

}  // namespace stoker::audio
