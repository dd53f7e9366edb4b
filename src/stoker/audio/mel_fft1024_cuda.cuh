// The 1024-point real FFT of two neighbouring frames by one warp, samples to magnitudes.
//
// 1024 = 32 x 32. Lane n2 transforms samples n2, n2+32, ... of each frame (real, 32 points, window
// in the first butterfly); one exchange through shared memory; lane (frame, k1) transforms row k1
// over n2 and holds bins k1+32*k2 and their mirrors. Rows 0 and 16 are real, so lane 0 carries row
// 0 of both frames as one complex row, and lane 16 row 16.
#pragma once

#include <cstdint>

#include "stoker/audio/fft32_cuda.cuh"

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
