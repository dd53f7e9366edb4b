// Butterflies of short transforms in the registers of one lane, and the real one of 32 points.
#pragma once

namespace stoker::audio::device {

struct Complex {
  float re, im;
};

// cos and -sin of 2*pi*k/32 for the k that stage 1 needs.
template <int kTurn>
__device__ __forceinline__ constexpr Complex root32() {
  static_assert(kTurn == 1 || kTurn == 2 || kTurn == 4 || kTurn == 5);
  if constexpr (kTurn == 1) return {0.980785280F, -0.195090322F};
  if constexpr (kTurn == 2) return {0.923879533F, -0.382683432F};
  if constexpr (kTurn == 4) return {0.707106781F, -0.707106781F};
  return {0.555570233F, -0.831469612F};
}

__device__ __forceinline__ Complex add_product(Complex a, Complex w, Complex b) {
  return {fmaf(-w.im, b.im, fmaf(w.re, b.re, a.re)), fmaf(w.im, b.re, fmaf(w.re, b.im, a.im))};
}

// a + w*b and a - w*b in six multiply-adds: the second is 2a minus the first.
__device__ __forceinline__ void butterfly(Complex& a, Complex& b, Complex w) {
  const Complex sum = add_product(a, w, b);
  b = {fmaf(2.0F, a.re, -sum.re), fmaf(2.0F, a.im, -sum.im)};
  a = sum;
}

template <int kBits>
constexpr __device__ int reversed_bits(int value) {
  if constexpr (kBits == 0)
    return 0;
  else
    return (value & 1) << (kBits - 1) | reversed_bits<kBits - 1>(value >> 1);
}

// Stage 1's twiddles: the transform at odd frequencies, T = exp(-2*pi*i/32) to some power.
struct OddRoots {
  template <int kLength, int kIndex>
  __device__ __forceinline__ Complex get() const {
    return root32<(8 + 32 * kIndex) / kLength>();
  }
};

// One level of a transform at the points T*W^m: twiddles T^(N/length)*W_length^m. The second half
// of them is the first times -i.
template <int kPoints, int kLength, int kBlock, int kIndex, class Roots>
__device__ __forceinline__ void level_butterfly(Complex (&x)[kPoints], const Roots& roots) {
  Complex& a = x[kBlock * kLength + kIndex];
  Complex& b = x[kBlock * kLength + kIndex + kLength / 2];
  constexpr int kQuarter = kLength / 4;
  if constexpr (kIndex < kQuarter || kLength == 2) {
    butterfly(a, b, roots.template get<kLength, kIndex>());
  } else {
    const Complex w = roots.template get<kLength, kIndex - kQuarter>();
    butterfly(a, b, {w.im, -w.re});
  }
}

template <int kPoints, int kLength, int kNumber, class Roots>
__device__ __forceinline__ void run_level(Complex (&x)[kPoints], const Roots& roots) {
  constexpr int kHalf = kLength / 2;
  level_butterfly<kPoints, kLength, kNumber / kHalf, kNumber % kHalf>(x, roots);
  if constexpr (kNumber + 1 < kPoints / 2) run_level<kPoints, kLength, kNumber + 1>(x, roots);
}

// Input in bit-reversed order, output in natural order; kLast levels are left out.
template <int kPoints, int kEnd, int kLength = 2, class Roots>
__device__ __forceinline__ void shifted_fft(Complex (&x)[kPoints], const Roots& roots) {
  if constexpr (kLength <= kEnd) {
    run_level<kPoints, kLength, 0>(x, roots);
    shifted_fft<kPoints, kEnd, kLength * 2>(x, roots);
  }
}

// Odd bins of a real transform of 4*kPoints values, from the kPoints*2 differences d: bin 4m+1 is
// output m; those beyond the middle are the conjugates of bins 4m+3.
template <int kPoints>
__device__ __forceinline__ void odd_bins(const float* d, Complex* bins, int bin_step) {
  constexpr int kBits = kPoints == 8 ? 3 : kPoints == 4 ? 2 : 1;
  Complex x[kPoints];
#pragma unroll
  for (int n = 0; n < kPoints; ++n) x[reversed_bits<kBits>(n)] = {d[n], -d[n + kPoints]};
  shifted_fft<kPoints, kPoints>(x, OddRoots{});
#pragma unroll
  for (int m = 0; m < kPoints / 2; ++m) {
    bins[(4 * m + 1) * bin_step] = x[m];
    const Complex high = x[kPoints - 1 - m];
    bins[(4 * m + 3) * bin_step] = {high.re, -high.im};
  }
}

// Bins 0..16 of 32 real values given as sums and differences of values n and n+16. Bins 0 and 16
// come out halved and real: their lanes add two frames up.
__device__ __forceinline__ void real_fft32(const float (&sum)[16], const float (&difference)[16],
                                           Complex (&bins)[17]) {
  odd_bins<8>(difference, bins, 1);
  float s8[8], d8[8], s4[4], d4[4];
#pragma unroll
  for (int n = 0; n < 8; ++n) {
    s8[n] = sum[n] + sum[n + 8];
    d8[n] = sum[n] - sum[n + 8];
  }
  odd_bins<4>(d8, bins, 2);
#pragma unroll
  for (int n = 0; n < 4; ++n) {
    s4[n] = s8[n] + s8[n + 4];
    d4[n] = s8[n] - s8[n + 4];
  }
  odd_bins<2>(d4, bins, 4);
  const float even = s4[0] + s4[2];
  const float odd = s4[1] + s4[3];
  bins[8] = {s4[0] - s4[2], s4[3] - s4[1]};
  bins[0] = {0.5F * (even + odd), 0.0F};
  bins[16] = {0.5F * (even - odd), 0.0F};
}

}  // namespace stoker::audio::device
