// Butterflies of short transforms in the registers of one lane, and the real one of 32 points.
#pragma once

namespace stoker::audio::device {

// Real is float or double.
template <class Real>
struct Complex {
  Real re, im;
};

__device__ __forceinline__ float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
__device__ __forceinline__ double multiply_add(double a, double b, double c) {
  return fma(a, b, c);
}

// cos and -sin of 2*pi*k/32 for the k that stage 1 needs.
template <int kTurn, class Real>
__device__ __forceinline__ constexpr Complex<Real> root32() {
  static_assert(kTurn == 1 || kTurn == 2 || kTurn == 4 || kTurn == 5);
  constexpr double kHalfRoot = 0.70710678118654752440;
  double cosine = 0.55557023301960222474, sine = 0.83146961230254523708;
  if constexpr (kTurn == 1) cosine = 0.98078528040323044913, sine = 0.19509032201612826785;
  if constexpr (kTurn == 2) cosine = 0.92387953251128675613, sine = 0.38268343236508977173;
  if constexpr (kTurn == 4) cosine = sine = kHalfRoot;
  return {static_cast<Real>(cosine), static_cast<Real>(-sine)};
}

template <class Real>
__device__ __forceinline__ Complex<Real> add_product(Complex<Real> a, Complex<Real> w,
                                                     Complex<Real> b) {
  return {multiply_add(-w.im, b.im, multiply_add(w.re, b.re, a.re)),
          multiply_add(w.im, b.re, multiply_add(w.re, b.im, a.im))};
}

// a + w*b and a - w*b in six multiply-adds: the second is 2a minus the first.
template <class Real>
__device__ __forceinline__ void butterfly(Complex<Real>& a, Complex<Real>& b, Complex<Real> w) {
  const Complex<Real> sum = add_product(a, w, b);
  b = {multiply_add(Real{2}, a.re, -sum.re), multiply_add(Real{2}, a.im, -sum.im)};
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
template <class Real>
struct OddRoots {
  template <int kLength, int kIndex>
  __device__ __forceinline__ Complex<Real> get() const {
    return root32<(8 + 32 * kIndex) / kLength, Real>();
  }
};

// One level of a transform at the points T*W^m: twiddles T^(N/length)*W_length^m. The second half
// of them is the first times -i.
template <int kPoints, int kLength, int kBlock, int kIndex, class Real, class Roots>
__device__ __forceinline__ void level_butterfly(Complex<Real> (&x)[kPoints], const Roots& roots) {
  Complex<Real>& a = x[kBlock * kLength + kIndex];
  Complex<Real>& b = x[kBlock * kLength + kIndex + kLength / 2];
  constexpr int kQuarter = kLength / 4;
  if constexpr (kIndex < kQuarter || kLength == 2) {
    butterfly(a, b, roots.template get<kLength, kIndex>());
  } else {
    const Complex<Real> w = roots.template get<kLength, kIndex - kQuarter>();
    butterfly(a, b, Complex<Real>{w.im, -w.re});
  }
}

template <int kPoints, int kLength, int kNumber, class Real, class Roots>
__device__ __forceinline__ void run_level(Complex<Real> (&x)[kPoints], const Roots& roots) {
  constexpr int kHalf = kLength / 2;
  level_butterfly<kPoints, kLength, kNumber / kHalf, kNumber % kHalf>(x, roots);
  if constexpr (kNumber + 1 < kPoints / 2) run_level<kPoints, kLength, kNumber + 1>(x, roots);
}

// Input in bit-reversed order, output in natural order; kLast levels are left out.
template <int kPoints, int kEnd, int kLength = 2, class Real, class Roots>
__device__ __forceinline__ void shifted_fft(Complex<Real> (&x)[kPoints], const Roots& roots) {
  if constexpr (kLength <= kEnd) {
    run_level<kPoints, kLength, 0>(x, roots);
    shifted_fft<kPoints, kEnd, kLength * 2>(x, roots);
  }
}

// Odd bins of a real transform of 4*kPoints values, from the kPoints*2 differences d: bin 4m+1 is
// output m; those beyond the middle are the conjugates of bins 4m+3.
template <int kPoints, class Real>
__device__ __forceinline__ void odd_bins(const Real* d, Complex<Real>* bins, int bin_step) {
  constexpr int kBits = kPoints == 8 ? 3 : kPoints == 4 ? 2 : 1;
  Complex<Real> x[kPoints];
#pragma unroll
  for (int n = 0; n < kPoints; ++n) x[reversed_bits<kBits>(n)] = {d[n], -d[n + kPoints]};
  shifted_fft<kPoints, kPoints>(x, OddRoots<Real>{});
#pragma unroll
  for (int m = 0; m < kPoints / 2; ++m) {
    bins[(4 * m + 1) * bin_step] = x[m];
    const Complex<Real> high = x[kPoints - 1 - m];
    bins[(4 * m + 3) * bin_step] = {high.re, -high.im};
  }
}

// Bins 0..16 of 32 real values given as sums and differences of values n and n+16. Bins 0 and 16
// come out halved and real: their lanes add two frames up.
template <class Real>
__device__ __forceinline__ void real_fft32(const Real (&sum)[16], const Real (&difference)[16],
                                           Complex<Real> (&bins)[17]) {
  odd_bins<8>(difference, bins, 1);
  Real s8[8], d8[8], s4[4], d4[4];
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
  const Real even = s4[0] + s4[2];
  const Real odd = s4[1] + s4[3];
  bins[8] = {s4[0] - s4[2], s4[3] - s4[1]};
  bins[0] = {Real(0.5) * (even + odd), Real{}};
  bins[16] = {Real(0.5) * (even - odd), Real{}};
}

}  // namespace stoker::audio::device
