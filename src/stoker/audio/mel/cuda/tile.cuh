// What the log-mel kernels share: which frames a tile holds, samples beyond the ends of an
// utterance, and the steps from a band's sum to the stored number.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <climits>
#include <cstdint>

#include "stoker/audio/mel/cuda/fft32.cuh"
#include "stoker/audio/mel/cuda/kernel_task.h"

namespace stoker::audio::device {

// A run of neighbouring frames of one utterance.
struct MelTile {
  std::int64_t begin;  // the utterance's first sample in the batch
  int num_samples;     // of the utterance
  int utterance;
  int first_frame;
  int num_frames;  // of the tile that have samples; the rows after them are padding
  int num_rows;    // of the tile to write
};

__device__ __forceinline__ int frames_of(const DeviceMelTask& task, int num_samples) {
  const int fitted = task.fit_samples > 0 ? task.fit_samples : num_samples;
  if (num_samples < task.hop_samples || fitted + task.frame_slack < 0) return 0;
  const int frames = (fitted + task.frame_slack) / task.hop_samples + 1 - task.drop_last;
  return max(0, min(frames, task.padded_frames));
}

// Tiles are numbered with the utterance running fastest: the first ones hold frames in every
// utterance, the last ones mostly padding, which costs little.
__device__ __forceinline__ MelTile tile_at(const DeviceMelTask& task, int index, int tile_frames) {
  MelTile tile;
  tile.first_frame = index / task.num_utterances * tile_frames;
  tile.utterance = index % task.num_utterances;
  tile.begin = task.begins[tile.utterance];
  tile.num_samples = task.lengths[tile.utterance];
  tile.num_rows = min(tile_frames, task.padded_frames - tile.first_frame);
  tile.num_frames =
      max(0, min(tile.num_rows, frames_of(task, tile.num_samples) - tile.first_frame));
  return tile;
}

// Which sample is at `position`; -1 for a zero. As FrameGrid::source_of.
__device__ __forceinline__ int source_of(int position, int num_samples, bool reflects) {
  if (position >= 0 && position < num_samples) return position;
  if (!reflects) return -1;
  const int mirrored = position < 0 ? -position : 2 * (num_samples - 1) - position;
  if (mirrored >= 0 && mirrored < num_samples) return mirrored;
  if (num_samples == 1) return 0;
  const int period = 2 * (num_samples - 1);
  position %= period;
  if (position < 0) position += period;
  return position < num_samples ? position : period - position;
}

// A float sample that is not a number counts as 0, one beyond +-2^20 as that bound.
__device__ __forceinline__ float sane(float x) {
  return x == x ? fminf(fmaxf(x, -1048576.0F), 1048576.0F) : 0.0F;
}
__device__ __forceinline__ float sane(std::int16_t x) { return static_cast<float>(x); }

// A sample as the transforms take it. An integer becomes a double by one subtraction: its bits
// are the low ones of a double of 2^52; the conversion itself would take four times as long.
template <class Real>
__device__ __forceinline__ Real real_sample(std::int16_t x) {
  if constexpr (sizeof(Real) == 4) {
    return sane(x);
  } else {
    constexpr int kHighWord = 0x43300000;  // of 2^52
    constexpr double kZero = 0x1p52 + 0x1p31;
    return __hiloint2double(kHighWord, static_cast<int>(x) ^ INT_MIN) - kZero;
  }
}
template <class Real>
__device__ __forceinline__ Real real_sample(float x) {
  return sane(x);
}

__device__ __forceinline__ float approximate_root(float x) {
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
}

__device__ __forceinline__ float approximate_log2(float x) {
  float log;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(log) : "f"(x));
  return log;
}

// A bin as the bands add it up. kPower 0: as the task says.
template <int kPower, class Real>
__device__ __forceinline__ float size_of(const DeviceMelTask& task, Complex<Real> z) {
  const auto power = static_cast<float>(
      multiply_add(z.im, z.im, multiply_add(z.re, z.re, static_cast<Real>(task.epsilon))));
  if (kPower == 1 || task.power == 1) return approximate_root(power);
  return power;
}

// Floor and logarithm.
__device__ __forceinline__ float compressed(const DeviceMelTask& task, float sum) {
  const float kept = fmaxf(sum + task.floor_add, task.floor_clamp);
  return task.log_factor == 0.0F ? kept : approximate_log2(kept) * task.log_factor;
}

__device__ __forceinline__ std::uint16_t f16_bits_of(float x) {
  return __half_as_ushort(__float2half_rn(fminf(fmaxf(x, -65504.0F), 65504.0F)));
}
__device__ __forceinline__ std::uint16_t bf16_bits_of(float x) {
  return __bfloat16_as_ushort(__float2bfloat16_rn(x));
}
__device__ __forceinline__ std::uint16_t narrow_bits(config::MelDtype dtype, float x) {
  return dtype == config::MelDtype::kF16 ? f16_bits_of(x) : bf16_bits_of(x);
}

// The padding value's bits: one f32, or two narrow numbers.
__device__ __forceinline__ std::uint32_t padding_word(const DeviceMelTask& task) {
  if (task.dtype == config::MelDtype::kF32) return __float_as_uint(task.padding);
  return narrow_bits(task.dtype, task.padding) * 0x10001U;
}

__device__ __forceinline__ void store_value(const DeviceMelTask& task, std::int64_t index,
                                            float value) {
  if (task.dtype == config::MelDtype::kF32) {
    static_cast<float*>(task.mel)[index] = value;
  } else {
    static_cast<std::uint16_t*>(task.mel)[index] = narrow_bits(task.dtype, value);
  }
}

__device__ __forceinline__ std::int64_t first_value(const DeviceMelTask& task,
                                                    const MelTile& tile) {
  return (static_cast<std::int64_t>(tile.utterance) * task.padded_frames + tile.first_frame) *
         task.num_mels;
}

// Floats in an order that integers compare: atomicMin and atomicMax find an utterance's range, and
// whatever order they run in, the result is the same.
__device__ __forceinline__ int ordered_bits(float x) {
  const int bits = __float_as_int(x);
  return bits >= 0 ? bits : bits ^ 0x7FFFFFFF;
}

__device__ __forceinline__ void widen_range(int* range, float lowest, float highest) {
  int low = ordered_bits(lowest);
  int high = ordered_bits(highest);
  for (int step = 16; step > 0; step /= 2) {
    low = min(low, __shfl_xor_sync(0xFFFFFFFFU, low, step));
    high = max(high, __shfl_xor_sync(0xFFFFFFFFU, high, step));
  }
  if ((threadIdx.x & 31) == 0) {
    atomicMin(range, low);
    atomicMax(range + 1, high);
  }
}

}  // namespace stoker::audio::device
