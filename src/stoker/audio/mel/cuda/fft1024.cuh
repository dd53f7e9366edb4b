// The 1024-point real FFT of two neighbouring frames by one warp, samples to magnitudes.
//
// 1024 = 32 x 32. Lane n2 transforms samples n2, n2+32, ... of each frame (real, 32 points, window
// in the first butterfly); one exchange through shared memory; lane (frame, k1) transforms row k1
// over n2 and holds bins k1+32*k2 and their mirrors. Rows 0 and 16 are real, so lane 0 carries row
// 0 of both frames as one complex row, and lane 16 row 16.
#pragma once

#include <cstdint>

#include "stoker/audio/mel/cuda/fft32.cuh"

namespace stoker::audio::device {

inline constexpr int kFrameSamples = 1024;
inline constexpr int kHopSamples = 256;
inline constexpr int kTileFrames = 32;
inline constexpr int kTileSamples = (kTileFrames - 1) * kHopSamples + kFrameSamples;
inline constexpr int kPairSamples = 40;  // per lane: two frames share 24 of their 32

// Samples that the transforms of `num_frames` frames read. A pair's two frames share rounding in
// lanes 0 and 16, so the second frame of the last pair is read even where it is no frame: its bytes
// must not be those of another utterance.
__device__ __forceinline__ int pair_samples(int num_frames) {
  return ((num_frames + 1) / 2 * 2 - 1) * kHopSamples + kFrameSamples;
}

// Magnitudes of the pair p: frame 2p at p*kPairStride, frame 2p+1 kSecondFrame later. Modulo the 32
// banks that is p and p+16, so that 32 lanes that read one bin of 32 frames, or write 32 bins of
// two frames, meet no conflict. The exchange of the pair uses the same memory, 128-byte aligned.
inline constexpr int kSecondFrame = 528;
inline constexpr int kPairStride = 1057;
inline constexpr int kExchangeFloats = 32 * 32;
static_assert(kPairStride >= kExchangeFloats + 31 && kPairStride >= kSecondFrame + 512);

// 16 pairs of numbers a lane, in units of 16 bytes: [units][32 lanes], so that the 32 lanes of a
// read meet no conflict.
template <class Real>
struct LaneTable {
  static constexpr int kPairs = 16;
  static constexpr int kUnits = kPairs * 2 * sizeof(Real) / sizeof(uint4);  // of one lane
  const uint4* units;                                                       // of lane 0
  int lane;

  __device__ __forceinline__ Complex<Real> get(int pair) const {
    if constexpr (sizeof(Real) == 4) {
      const float4 two = reinterpret_cast<const float4*>(units)[pair / 2 * 32 + lane];
      return pair % 2 == 0 ? Complex<Real>{two.x, two.y} : Complex<Real>{two.z, two.w};
    } else {
      const double2 one = reinterpret_cast<const double2*>(units)[pair * 32 + lane];
      return {one.x, one.y};
    }
  }
};

// Where one warp finds its tables and its place.
template <class Real>
struct WarpFft {
  LaneTable<Real> window;    // pair i: w[n], w[n+512] for n = lane+32*i
  LaneTable<Real> twiddles;  // stage 2's
  float* pair;               // kPairStride floats
  float* exchange;           // inside `pair`, 128-byte aligned
  int lane;
};

// Stage 2's twiddles: (length, m) is at length/4+m.
template <class Real>
struct LaneRoots {
  LaneTable<Real> table;

  template <int kLength, int kIndex>
  __device__ __forceinline__ Complex<Real> get() const {
    return table.get(kLength / 4 + kIndex);
  }
};

template <class Real>
__device__ __forceinline__ void windowed_bins(const WarpFft<Real>& warp, const Real* samples,
                                              Complex<Real> (&bins)[17]) {
  Real sum[16], difference[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    const auto [early, late] = warp.window.get(i);
    const Real first = early * samples[i];
    sum[i] = multiply_add(late, samples[i + 16], first);
    difference[i] = multiply_add(-late, samples[i + 16], first);
  }
  real_fft32(sum, difference, bins);
}

// Row r of 32 words; its groups of four are swapped by r so that a column write and a row read of
// 16 bytes a lane both touch every bank once.
template <class Real>
__device__ __forceinline__ void write_column(const WarpFft<Real>& warp, int row, float word) {
  warp.exchange[row * 32 + (warp.lane ^ ((row & 7) << 2))] = word;
}

template <class Real, class Take>
__device__ __forceinline__ void read_row(const WarpFft<Real>& warp, Take take) {
#pragma unroll
  for (int c = 0; c < 8; ++c) {
    const int group = c ^ (warp.lane & 7);
    const float4 four =
        *reinterpret_cast<const float4*>(warp.exchange + warp.lane * 32 + group * 4);
    take(4 * c, four.x);
    take(4 * c + 1, four.y);
    take(4 * c + 2, four.z);
    take(4 * c + 3, four.w);
  }
}

// A float is one word, a double two, the low one first.
__device__ __forceinline__ float word_of(float x, int) { return x; }
__device__ __forceinline__ float word_of(double x, int index) {
  return __int_as_float(index == 0 ? __double2loint(x) : __double2hiint(x));
}
__device__ __forceinline__ void set_word(float& x, int, float word) { x = word; }
__device__ __forceinline__ void set_word(double& x, int index, float word) {
  const int bits = __float_as_int(word);
  x = index == 0 ? __hiloint2double(0, bits) : __hiloint2double(bits, __double2loint(x));
}

// Value r of every lane to lane r, where `at(n)` becomes what lane n gave. Word by word, so that a
// warp needs no more memory for doubles.
template <class Real, class At>
__device__ __forceinline__ void cross(const WarpFft<Real>& warp, const Real (&values)[32], At at) {
#pragma unroll
  for (int word = 0; word < static_cast<int>(sizeof(Real) / 4); ++word) {
#pragma unroll
    for (int row = 0; row < 32; ++row) write_column(warp, row, word_of(values[row], word));
    __syncwarp();
    read_row(warp, [&](int n, float read) { set_word(at(n), word, read); });
    __syncwarp();
  }
}

// Rows 0 and 16 carry the second frame where the others have imaginary parts.
template <class Real>
__device__ __forceinline__ void exchange(const WarpFft<Real>& warp,
                                         const Complex<Real> (&first)[17],
                                         const Complex<Real> (&second)[17],
                                         Complex<Real> (&row)[32]) {
  Real real[32], imaginary[32];
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    real[k] = first[k].re;
    real[16 + k] = k == 0 ? first[16].re : second[k].re;
    imaginary[k] = k == 0 ? second[0].re : first[k].im;
    imaginary[16 + k] = k == 0 ? second[16].re : second[k].im;
  }
  cross(warp, real, [&](int n) -> Real& { return row[reversed_bits<5>(n)].re; });
  cross(warp, imaginary, [&](int n) -> Real& { return row[reversed_bits<5>(n)].im; });
}

// The last level, without the outputs beyond kRows*32 bins.
template <int kRows, int kIndex = 0, class Real>
__device__ __forceinline__ void last_level(Complex<Real> (&x)[32], const LaneRoots<Real>& roots) {
  constexpr bool kLow = kIndex < kRows;
  constexpr bool kHigh = kIndex + 16 >= 32 - kRows;
  if constexpr (kLow && kHigh) {
    level_butterfly<32, 32, 0, kIndex>(x, roots);
  } else {
    Complex<Real> w = roots.template get<32, kIndex % 8>();
    if constexpr (kIndex >= 8) w = {w.im, -w.re};
    if constexpr (kLow) x[kIndex] = add_product(x[kIndex], w, x[kIndex + 16]);
    if constexpr (kHigh)
      x[kIndex + 16] = add_product(x[kIndex], Complex<Real>{-w.re, -w.im}, x[kIndex + 16]);
  }
  if constexpr (kIndex < 15) last_level<kRows, kIndex + 1>(x, roots);
}

// Bins of one lane to memory through `size_of` (power to magnitude). Lanes 0 and 16 first take
// their two frames apart: z + conj(mirror) is twice the first, mirror - conj(z) as large as twice
// the second; `c` is 1 for them and 0 for the others.
template <int kRows, class Real, class SizeOf>
__device__ __forceinline__ void write_sizes(const WarpFft<Real>& warp, const Complex<Real> (&x)[32],
                                            SizeOf size_of) {
  const int lane = warp.lane;
  const bool packed = (lane & 15) == 0;
  const Real c = packed ? Real{1} : Real{};
  const int k1 = lane & 15;
  const int second = lane >= 16 ? kSecondFrame : 0;
  float* const up = warp.pair + (packed ? lane : second + k1);
  float* const down = warp.pair + (packed ? kSecondFrame + lane : second + 32 - k1);
#pragma unroll
  for (int k2 = 0; k2 < kRows; ++k2) {
    const Complex<Real> z = x[k2];
    const Complex<Real> mirror = {lane == 0 ? x[(32 - k2) & 31].re : x[31 - k2].re,
                                  lane == 0 ? x[(32 - k2) & 31].im : x[31 - k2].im};
    const Complex<Real> a = {multiply_add(c, mirror.re, z.re), multiply_add(-c, mirror.im, z.im)};
    const Complex<Real> b = {multiply_add(-c, z.re, mirror.re), multiply_add(c, z.im, mirror.im)};
    up[32 * k2] = size_of(a);
    down[32 * k2] = size_of(b);
  }
}

// `samples`: 40 of this lane, 32 apart. Writes the bins below kRows*32 of both frames.
template <int kRows, class Real, class SizeOf>
__device__ __forceinline__ void pair_spectrum(const WarpFft<Real>& warp,
                                              const Real (&samples)[kPairSamples], SizeOf size_of) {
  Complex<Real> row[32];
  {
    Complex<Real> first[17], second[17];
    windowed_bins(warp, samples, first);
    windowed_bins(warp, samples + 8, second);
    exchange(warp, first, second, row);
  }
  const LaneRoots<Real> roots{warp.twiddles};
  shifted_fft<32, 16>(row, roots);
  last_level<kRows>(row, roots);
  write_sizes<kRows>(warp, row, size_of);
}

}  // namespace stoker::audio::device
