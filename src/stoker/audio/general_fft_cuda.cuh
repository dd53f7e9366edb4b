// Stockham stages of any radix in shared memory, several transforms side by side.
#pragma once

#include "stoker/audio/device_mel_task.h"
#include "stoker/audio/mel_fft1024_cuda.cuh"

namespace stoker::audio::device {

struct StageRun {
  const Complex* from;
  Complex* to;
  int num_points;  // of one transform
  int num_frames;
  int num_threads;
};

__device__ __forceinline__ Complex plus_product(Complex a, Complex b, Complex w) {
  return add_product(a, w, b);
}
__device__ __forceinline__ Complex product(Complex a, Complex w) {
  return {fmaf(-a.im, w.im, a.re * w.re), fmaf(a.im, w.re, a.re * w.im)};
}

__device__ __forceinline__ Complex root_at(const float* table, int index) {
  const float2 pair = __ldg(reinterpret_cast<const float2*>(table) + index);
  return {pair.x, pair.y};
}

// exp(-2*pi*i*k/radix)
template <int kRadix>
__device__ __forceinline__ constexpr Complex small_root(int k) {
  if (k == 0) return {1.0F, 0.0F};
  if constexpr (kRadix == 2) return {-1.0F, 0.0F};
  if constexpr (kRadix == 3) return {-0.5F, k == 1 ? -0.866025404F : 0.866025404F};
  if constexpr (kRadix == 4) {
    return {k == 2 ? -1.0F : 0.0F, k == 1 ? -1.0F : k == 3 ? 1.0F : 0.0F};
  }
  const float sine = k == 1 || k == 4 ? 0.951056516F : 0.587785252F;
  return {k == 1 || k == 4 ? 0.309016994F : -0.809016994F, k <= 2 ? -sine : sine};
}

// Butterfly p of column q of one transform: reads every m*stride-th value, writes neighbours.
template <int kRadix>
__device__ __forceinline__ void small_butterfly(const GeneralStage& stage, const Complex* from,
                                                Complex* to, int p, int q) {
  const int m = stage.length / kRadix;
  Complex x[kRadix];
#pragma unroll
  for (int j = 0; j < kRadix; ++j) x[j] = from[(p + j * m) * stage.stride + q];
#pragma unroll
  for (int k = 0; k < kRadix; ++k) {
    Complex sum = x[0];
#pragma unroll
    for (int j = 1; j < kRadix; ++j)
      sum = plus_product(sum, x[j], small_root<kRadix>(j * k % kRadix));
    if (k > 0) sum = product(sum, root_at(stage.twiddles, p * (kRadix - 1) + k - 1));
    to[(p * kRadix + k) * stage.stride + q] = sum;
  }
}

template <int kRadix>
__device__ void run_small_stage(const GeneralStage& stage, const StageRun& run) {
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
__device__ void run_any_stage(const GeneralStage& stage, const StageRun& run) {
  const int radix = stage.radix;
  const int m = stage.length / radix;
  for (int i = static_cast<int>(threadIdx.x); i < run.num_frames * run.num_points;
       i += run.num_threads) {
    const int first = i / run.num_points * run.num_points;
    const int q = i % run.num_points % stage.stride;
    const int k = i % run.num_points / stage.stride % radix;
    const int p = i % run.num_points / stage.stride / radix;
    Complex sum = {0.0F, 0.0F};
    int turn = 0;
    for (int begin = 0; begin < radix; begin += kSumLength) {
      Complex part = {0.0F, 0.0F};
      for (int j = begin; j < min(begin + kSumLength, radix); ++j) {
        const Complex x = run.from[first + (p + j * m) * stage.stride + q];
        part = plus_product(part, x, root_at(stage.roots, turn));
        turn += k;
        if (turn >= radix) turn -= radix;
      }
      sum = {sum.re + part.re, sum.im + part.im};
    }
    if (k > 0) sum = product(sum, root_at(stage.twiddles, p * (radix - 1) + k - 1));
    run.to[first + (p * radix + k) * stage.stride + q] = sum;
  }
}

__device__ __forceinline__ void run_stage(const GeneralStage& stage, const StageRun& run) {
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
__device__ __forceinline__ Complex real_bin(const Complex* points, const GeneralMelTask& general,
                                            int k) {
  const int n = general.row_floats / 2;
  const Complex z = points[k == n ? 0 : k];
  const Complex mirror = points[k == 0 || k == n ? 0 : n - k];
  const Complex even = {0.5F * (z.re + mirror.re), 0.5F * (z.im - mirror.im)};
  const Complex odd = {0.5F * (z.im + mirror.im), 0.5F * (mirror.re - z.re)};
  return plus_product(even, odd, root_at(general.roots, k));
}

// Bin k of real values by the definition; roots[j] = exp(-2*pi*i*j/n_fft).
__device__ __forceinline__ Complex bin_by_definition(const float* values,
                                                     const GeneralMelTask& general, int k) {
  Complex sum = {0.0F, 0.0F};
  int turn = 0;
  for (int begin = 0; begin < general.win_samples; begin += kSumLength) {
    Complex part = {0.0F, 0.0F};
    for (int i = begin; i < min(begin + kSumLength, general.win_samples); ++i) {
      const Complex root = root_at(general.roots, turn);
      part = {fmaf(values[i], root.re, part.re), fmaf(values[i], root.im, part.im)};
      turn += k;
      if (turn >= general.n_fft) turn -= general.n_fft;
    }
    sum = {sum.re + part.re, sum.im + part.im};
  }
  return sum;
}

}  // namespace stoker::audio::device
