// Stockham stages of any radix in shared memory, several transforms side by side.
#pragma once

#include <type_traits>

#include "stoker/audio/mel/cuda/device_mel_task.h"
#include "stoker/audio/mel/cuda/fft32_cuda.cuh"

namespace stoker::audio::device {

template <class Real>
struct StageRun {
  const Complex<Real>* from;
  Complex<Real>* to;
  int num_points;  // of one transform
  int num_frames;
  int num_threads;
};

template <class Real>
__device__ __forceinline__ Complex<Real> product(Complex<Real> a, Complex<Real> w) {
  return {multiply_add(-a.im, w.im, a.re * w.re), multiply_add(a.im, w.re, a.re * w.im)};
}

template <class Real>
__device__ __forceinline__ Complex<Real> root_at(const void* table, int index) {
  using Pair = std::conditional_t<sizeof(Real) == 4, float2, double2>;
  const Pair pair = __ldg(static_cast<const Pair*>(table) + index);
  return {pair.x, pair.y};
}

// exp(-2*pi*i*k/radix)
template <int kRadix, class Real>
__device__ __forceinline__ constexpr Complex<Real> small_root(int k) {
  double cosine = 1.0, sine = 0.0;
  if constexpr (kRadix == 2) cosine = k == 0 ? 1.0 : -1.0;
  if constexpr (kRadix == 3) {
    cosine = k == 0 ? 1.0 : -0.5;
    sine = k == 0 ? 0.0 : k == 1 ? -0.86602540378443864676 : 0.86602540378443864676;
  }
  if constexpr (kRadix == 4) {
    cosine = k == 0 ? 1.0 : k == 2 ? -1.0 : 0.0;
    sine = k == 1 ? -1.0 : k == 3 ? 1.0 : 0.0;
  }
  if constexpr (kRadix == 5) {
    const bool is_outer = k == 1 || k == 4;
    const double size = is_outer ? 0.95105651629515357212 : 0.58778525229247312917;
    cosine = k == 0 ? 1.0 : is_outer ? 0.30901699437494742410 : -0.80901699437494742410;
    sine = k == 0 ? 0.0 : k <= 2 ? -size : size;
  }
  return {static_cast<Real>(cosine), static_cast<Real>(sine)};
}

// Butterfly p of column q of one transform: reads every m*stride-th value, writes neighbours.
template <int kRadix, class Real>
__device__ __forceinline__ void small_butterfly(const GeneralStage& stage,
                                                const Complex<Real>* from, Complex<Real>* to, int p,
                                                int q) {
  const int m = stage.length / kRadix;
  Complex<Real> x[kRadix];
#pragma unroll
  for (int j = 0; j < kRadix; ++j) x[j] = from[(p + j * m) * stage.stride + q];
#pragma unroll
  for (int k = 0; k < kRadix; ++k) {
    Complex<Real> sum = x[0];
#pragma unroll
    for (int j = 1; j < kRadix; ++j)
      sum = add_product(sum, small_root<kRadix, Real>(j * k % kRadix), x[j]);
    if (k > 0) sum = product(sum, root_at<Real>(stage.twiddles, p * (kRadix - 1) + k - 1));
    to[(p * kRadix + k) * stage.stride + q] = sum;
  }
}

template <int kRadix, class Real>
__device__ void run_small_stage(const GeneralStage& stage, const StageRun<Real>& run) {
  const int per_frame = run.num_points / kRadix;
  for (int i = static_cast<int>(threadIdx.x); i < run.num_frames * per_frame;
       i += run.num_threads) {
    const int first = i / per_frame * run.num_points;
    const int p = i % per_frame / stage.stride;
    const int q = i % per_frame % stage.stride;
    small_butterfly<kRadix>(stage, run.from + first, run.to + first, p, q);
  }
}

// Long sums in two levels keep their rounding small.
constexpr int kSumLength = 64;

// Any radix by its definition, one output a thread.
template <class Real>
__device__ void run_any_stage(const GeneralStage& stage, const StageRun<Real>& run) {
  const int radix = stage.radix;
  const int m = stage.length / radix;
  for (int i = static_cast<int>(threadIdx.x); i < run.num_frames * run.num_points;
       i += run.num_threads) {
    const int first = i / run.num_points * run.num_points;
    const int q = i % run.num_points % stage.stride;
    const int k = i % run.num_points / stage.stride % radix;
    const int p = i % run.num_points / stage.stride / radix;
    Complex<Real> sum{};
    int turn = 0;
    for (int begin = 0; begin < radix; begin += kSumLength) {
      Complex<Real> part{};
      for (int j = begin; j < min(begin + kSumLength, radix); ++j) {
        const Complex<Real> x = run.from[first + (p + j * m) * stage.stride + q];
        part = add_product(part, root_at<Real>(stage.roots, turn), x);
        turn += k;
        if (turn >= radix) turn -= radix;
      }
      sum = {sum.re + part.re, sum.im + part.im};
    }
    if (k > 0) sum = product(sum, root_at<Real>(stage.twiddles, p * (radix - 1) + k - 1));
    run.to[first + (p * radix + k) * stage.stride + q] = sum;
  }
}

template <class Real>
__device__ __forceinline__ void run_stage(const GeneralStage& stage, const StageRun<Real>& run) {
  switch (stage.radix) {
    case 2:
      return run_small_stage<2>(stage, run);
    case 3:
      return run_small_stage<3>(stage, run);
    case 4:
      return run_small_stage<4>(stage, run);
    case 5:
      return run_small_stage<5>(stage, run);
    default:
      return run_any_stage(stage, run);
  }
}

// Bin k of the 2n real values that were packed as n complex ones: even and odd part taken apart.
template <class Real>
__device__ __forceinline__ Complex<Real> real_bin(const Complex<Real>* points,
                                                  const GeneralMelTask& general, int k) {
  constexpr Real kHalf{0.5};
  const int n = general.row_values / 2;
  const Complex<Real> z = points[k == n ? 0 : k];
  const Complex<Real> mirror = points[k == 0 || k == n ? 0 : n - k];
  const Complex<Real> even = {kHalf * (z.re + mirror.re), kHalf * (z.im - mirror.im)};
  const Complex<Real> odd = {kHalf * (z.im + mirror.im), kHalf * (mirror.re - z.re)};
  return add_product(even, root_at<Real>(general.roots, k), odd);
}

// Bin k of real values by the definition; roots[j] = exp(-2*pi*i*j/n_fft).
template <class Real>
__device__ __forceinline__ Complex<Real> bin_by_definition(const Real* values,
                                                           const GeneralMelTask& general, int k) {
  Complex<Real> sum{};
  int turn = 0;
  for (int begin = 0; begin < general.win_samples; begin += kSumLength) {
    Complex<Real> part{};
    for (int i = begin; i < min(begin + kSumLength, general.win_samples); ++i) {
      const auto root = root_at<Real>(general.roots, turn);
      part = {multiply_add(values[i], root.re, part.re), multiply_add(values[i], root.im, part.im)};
      turn += k;
      if (turn >= general.n_fft) turn -= general.n_fft;
    }
    sum = {sum.re + part.re, sum.im + part.im};
  }
  return sum;
}

}  // namespace stoker::audio::device
