// The 1024-point real FFT of two neighbouring frames by one warp, samples to magnitudes.
//
// 1024 = 32 x 32. Lane n2 transforms samples n2, n2+32, ... of each frame (real, 32 points, window
// in the first butterfly); one exchange through shared memory; lane (frame, k1) transforms row k1
// over n2 and holds bins k1+32*k2 and their mirrors. Rows 0 and 16 are real, so lane 0 carries row
// 0 of both frames as one complex row, and lane 16 row 16.
#pragma once

#include <cstdint>

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
// two frames, meet no conflict. The exchange of the pair lies in the same place, 128-byte aligned.
inline constexpr int kSecondFrame = 528;
inline constexpr int kPairStride = 1057;
inline constexpr int kExchangeFloats = 32 * 32;
static_assert(kPairStride >= kExchangeFloats + 31 && kPairStride >= kSecondFrame + 512);

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

// Stage 2's twiddles, of one lane: 16 of them, two in each float4; (length, m) stands at
// length/4+m.
struct LaneRoots {
  const float4* table;  // this lane's; the next two lie 32 float4 further

  template <int kLength, int kIndex>
  __device__ __forceinline__ Complex get() const {
    constexpr int kAt = kLength / 4 + kIndex;
    const float4 two = table[kAt / 2 * 32];
    return kAt % 2 == 0 ? Complex{two.x, two.y} : Complex{two.z, two.w};
  }
};

// Where one warp finds its tables and its place.
struct WarpFft {
  const float4* window;    // [8][32 lanes]: w[n], w[n+512], w[n+32], w[n+544] for n = lane+64*j
  const float4* twiddles;  // [8][32 lanes]
  float* pair;             // kPairStride floats
  float* exchange;         // inside `pair`, 128-byte aligned
  int lane;
};

__device__ __forceinline__ void windowed_bins(const WarpFft& warp, const float* samples,
                                              Complex (&bins)[17]) {
  float sum[16], difference[16];
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const float4 w = warp.window[j * 32 + warp.lane];
    const float first = w.x * samples[2 * j];
    const float second = w.z * samples[2 * j + 1];
    sum[2 * j] = fmaf(w.y, samples[2 * j + 16], first);
    difference[2 * j] = fmaf(-w.y, samples[2 * j + 16], first);
    sum[2 * j + 1] = fmaf(w.w, samples[2 * j + 17], second);
    difference[2 * j + 1] = fmaf(-w.w, samples[2 * j + 17], second);
  }
  real_fft32(sum, difference, bins);
}

// Row r of 32 floats; its groups of four are swapped by r so that a column write and a row read of
// 16 bytes a lane both touch every bank once.
__device__ __forceinline__ void write_column(const WarpFft& warp, int row, float value) {
  warp.exchange[row * 32 + (warp.lane ^ ((row & 7) << 2))] = value;
}

template <class Take>
__device__ __forceinline__ void read_row(const WarpFft& warp, Take take) {
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

// Real parts cross first, then imaginary ones through the same memory.
__device__ __forceinline__ void exchange(const WarpFft& warp, const Complex (&first)[17],
                                         const Complex (&second)[17], Complex (&row)[32]) {
  write_column(warp, 0, first[0].re);
  write_column(warp, 16, first[16].re);
#pragma unroll
  for (int k = 1; k < 16; ++k) {
    write_column(warp, k, first[k].re);
    write_column(warp, 16 + k, second[k].re);
  }
  __syncwarp();
  read_row(warp, [&](int n, float value) { row[reversed_bits<5>(n)].re = value; });
  __syncwarp();
  write_column(warp, 0, second[0].re);
  write_column(warp, 16, second[16].re);
#pragma unroll
  for (int k = 1; k < 16; ++k) {
    write_column(warp, k, first[k].im);
    write_column(warp, 16 + k, second[k].im);
  }
  __syncwarp();
  read_row(warp, [&](int n, float value) { row[reversed_bits<5>(n)].im = value; });
  __syncwarp();
}

// The last level, without the outputs beyond kRows*32 bins.
template <int kRows, int kIndex = 0>
__device__ __forceinline__ void last_level(Complex (&x)[32], const LaneRoots& roots) {
  constexpr bool kLow = kIndex < kRows;
  constexpr bool kHigh = kIndex + 16 >= 32 - kRows;
  if constexpr (kLow && kHigh) {
    level_butterfly<32, 32, 0, kIndex>(x, roots);
  } else {
    Complex w = roots.template get<32, kIndex % 8>();
    if constexpr (kIndex >= 8) w = {w.im, -w.re};
    if constexpr (kLow) x[kIndex] = add_product(x[kIndex], w, x[kIndex + 16]);
    if constexpr (kHigh) x[kIndex + 16] = add_product(x[kIndex], {-w.re, -w.im}, x[kIndex + 16]);
  }
  if constexpr (kIndex < 15) last_level<kRows, kIndex + 1>(x, roots);
}

// Bins of one lane to memory through `size_of` (power to magnitude). Lanes 0 and 16 first take
// their two frames apart: z + conj(mirror) is twice the first, mirror - conj(z) as large as twice
// the second; `c` is 1 for them and 0 for the others.
template <int kRows, class SizeOf>
__device__ __forceinline__ void write_sizes(const WarpFft& warp, const Complex (&x)[32],
                                            SizeOf size_of) {
  const int lane = warp.lane;
  const bool packed = (lane & 15) == 0;
  const float c = packed ? 1.0F : 0.0F;
  const int k1 = lane & 15;
  const int second = lane >= 16 ? kSecondFrame : 0;
  float* const up = warp.pair + (packed ? lane : second + k1);
  float* const down = warp.pair + (packed ? kSecondFrame + lane : second + 32 - k1);
#pragma unroll
  for (int k2 = 0; k2 < kRows; ++k2) {
    const Complex z = x[k2];
    const Complex mirror = {lane == 0 ? x[(32 - k2) & 31].re : x[31 - k2].re,
                            lane == 0 ? x[(32 - k2) & 31].im : x[31 - k2].im};
    const Complex a = {fmaf(c, mirror.re, z.re), fmaf(-c, mirror.im, z.im)};
    const Complex b = {fmaf(-c, z.re, mirror.re), fmaf(c, z.im, mirror.im)};
    up[32 * k2] = size_of(a);
    down[32 * k2] = size_of(b);
  }
}

// `samples`: 40 of this lane, 32 apart. Writes the bins below kRows*32 of both frames.
template <int kRows, class SizeOf>
__device__ __forceinline__ void pair_spectrum(const WarpFft& warp,
                                              const float (&samples)[kPairSamples],
                                              SizeOf size_of) {
  Complex row[32];
  {
    Complex first[17], second[17];
    windowed_bins(warp, samples, first);
    windowed_bins(warp, samples + 8, second);
    exchange(warp, first, second, row);
  }
  const LaneRoots roots{warp.twiddles + warp.lane};
  shifted_fft<32, 16>(row, roots);
  last_level<kRows>(row, roots);
  write_sizes<kRows>(warp, row, size_of);
}

}  // namespace stoker::audio::device
