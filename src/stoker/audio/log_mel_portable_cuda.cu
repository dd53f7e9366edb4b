// The portable variant: a block computes a tile of 32 frames in steps between block-wide barriers,
// with at most 96 KB of shared memory and nothing that an RTX 30 card lacks.
#include <cuda_runtime.h>

#include "stoker/audio/device_mel_kernels.h"
#include "stoker/audio/mel_band_code_cuda.cuh"
#include "stoker/audio/mel_banks_generated.h"
#include "stoker/audio/mel_fft1024_cuda.cuh"
#include "stoker/audio/mel_tile_cuda.cuh"
#include "stoker/audio/mel_tile_cursor_cuda.cuh"

namespace stoker::audio::device {
namespace {

constexpr int kPairs = kTileFrames / 2;
constexpr int kPart = 1;  // bands in a part: any number

constexpr int kWarps = 8;  // each transforms two pairs of a tile
constexpr int kThreads = 32 * kWarps;
constexpr int kBlocks = 2;          // on a multiprocessor, where its memory allows
constexpr int kPaddingPerTile = 2;  // tiles of padding written with each tile of frames

struct Shared {
  alignas(128) float pairs[kPairs * kPairStride + 16];
  float4 window[8 * 32];
  float4 twiddles[8 * 32];
  // Samples of the tile until they are transformed, then its mel values [32 lanes][num_mels | 1].
  alignas(16) unsigned char tile[kTileSamples * sizeof(std::int16_t)];
};
static_assert(sizeof(Shared) <= 96 * 1024);

__device__ void write_padding(const DeviceMelTask& task, const MelTile& tile) {
  const std::int64_t first = first_value(task, tile);
  for (int i = static_cast<int>(threadIdx.x); i < tile.num_rows * task.num_mels; i += kThreads) {
    store_value(task, first + i, task.padding);
  }
}

// 16 bytes a thread inside the utterance, sample by sample at its ends.
__device__ void load_samples(const DeviceMelTask& task, const MelTile& tile, std::int16_t* to) {
  const auto* const from = static_cast<const std::int16_t*>(task.samples) + tile.begin;
  const int first = task.first_start + tile.first_frame * kHopSamples;
  const int needed = pair_samples(tile.num_frames);
  for (int i = 8 * static_cast<int>(threadIdx.x); i < needed; i += 8 * kThreads) {
    const int position = first + i;
    if (position >= 0 && position + 8 <= tile.num_samples) {
      *reinterpret_cast<uint4*>(to + i) = *reinterpret_cast<const uint4*>(from + position);
      continue;
    }
    for (int j = 0; j < 8; ++j) {
      const int source = source_of(position + j, tile.num_samples, task.reflects != 0);
      to[i + j] = source < 0 ? std::int16_t{} : from[source];
    }
  }
}

template <class Sample>
__device__ __forceinline__ void lane_samples(const DeviceMelTask& task, const MelTile& tile,
                                             const Shared& shared, int pair, int lane,
                                             float (&samples)[kPairSamples]) {
  if constexpr (sizeof(Sample) == 2) {
    const auto* const from =
        reinterpret_cast<const Sample*>(shared.tile) + 2 * pair * kHopSamples + lane;
#pragma unroll
    for (int i = 0; i < kPairSamples; ++i) samples[i] = sane(from[32 * i]);
  } else {
    // Floats of a tile are too many for 96 KB: each warp reads its own, through the first cache.
    const auto* const from = static_cast<const Sample*>(task.samples) + tile.begin;
    const int first = task.first_start + (tile.first_frame + 2 * pair) * kHopSamples + lane;
#pragma unroll
    for (int i = 0; i < kPairSamples; ++i) {
      const int source = source_of(first + 32 * i, tile.num_samples, task.reflects != 0);
      samples[i] = source < 0 ? 0.0F : sane(from[source]);
    }
  }
}

template <int kRows, bool kAnyPower, class Sample>
__device__ __forceinline__ void transform_pair(const DeviceMelTask& task, const MelTile& tile,
                                               Shared& shared, int pair, int lane) {
  float samples[kPairSamples];
  lane_samples<Sample>(task, tile, shared, pair, lane, samples);
  const WarpFft warp{shared.window, shared.twiddles, shared.pairs + pair * kPairStride,
                     shared.pairs + (pair * kPairStride + 31) / 32 * 32, lane};
  pair_spectrum<kRows>(warp, samples, [&](Complex z) {
    const float power = fmaf(z.im, z.im, fmaf(z.re, z.re, task.epsilon));
    if constexpr (kAnyPower) return task.power == 1 ? approximate_root(power) : power;
    return approximate_root(power);
  });
}

template <class Bank>
__device__ __forceinline__ void mel_part(const DeviceMelTask& task, const MelTile& tile,
                                         Shared& shared, int part, int lane) {
  const float* const bins = shared.pairs + (lane & 15) * kPairStride + (lane >> 4) * kSecondFrame;
  float* const row = reinterpret_cast<float*>(shared.tile) + lane * (task.num_mels | 1);
  const bool has_frame = 2 * (lane & 15) + (lane >> 4) < tile.num_frames;
  float lowest = INFINITY;
  float highest = -INFINITY;
  const auto put = [&](int band, float sum) {
    const float value = compressed(task, sum);
    if constexpr (is_ranged<Bank>()) {
      lowest = fminf(lowest, value);
      highest = fmaxf(highest, value);
    }
    row[band] = has_frame ? value : task.padding;
  };
  if constexpr (std::is_void_v<Bank>) {
    table_bands(task, task.parts[part], task.parts[part + 1], bins,
                [&](int group, int index, float sum) { put(group + index, sum); });
  } else {
    fixed_part<Bank, kWarps, kPart>(part, bins, put);
  }
  if (is_ranged<Bank>() && task.ranges != nullptr) {
    widen_range(task.ranges + 2 * tile.utterance, has_frame ? lowest : INFINITY,
                has_frame ? highest : -INFINITY);
  }
}

__device__ void write_rows(const DeviceMelTask& task, const MelTile& tile, const Shared& shared,
                           int warp, int lane) {
  const std::int64_t first = first_value(task, tile);
  for (int frame = warp; frame < tile.num_rows; frame += kWarps) {
    const int from_lane = frame / 2 + 16 * (frame % 2);
    const float* const row =
        reinterpret_cast<const float*>(shared.tile) + from_lane * (task.num_mels | 1);
    for (int band = lane; band < task.num_mels; band += 32) {
      store_value(task, first + frame * task.num_mels + band, row[band]);
    }
  }
}

template <class Bank, class Sample>
__device__ __forceinline__ void run_tile(const DeviceMelTask& task, const MelTile& tile,
                                         Shared& shared) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  __syncthreads();  // the last tile's rows are out
  if constexpr (sizeof(Sample) == 2) {
    load_samples(task, tile, reinterpret_cast<std::int16_t*>(shared.tile));
    __syncthreads();
  }
  for (int pair = warp; 2 * pair < tile.num_frames; pair += kWarps) {
    transform_pair<rows_of_bank<Bank>(), std::is_void_v<Bank>, Sample>(task, tile, shared, pair,
                                                                       lane);
  }
  __syncthreads();
  mel_part<Bank>(task, tile, shared, warp, lane);
  __syncthreads();
  write_rows(task, tile, shared, warp, lane);
}

template <class Bank, class Sample>
__global__ void __launch_bounds__(kThreads, kBlocks) log_mel_portable(const DeviceMelTask task) {
  extern __shared__ __align__(128) unsigned char memory[];
  auto& shared = *reinterpret_cast<Shared*>(memory);
  for (int i = static_cast<int>(threadIdx.x); i < 8 * 32; i += kThreads) {
    shared.window[i] = reinterpret_cast<const float4*>(task.window)[i];
    shared.twiddles[i] = reinterpret_cast<const float4*>(task.twiddles)[i];
  }
  const int step = static_cast<int>(gridDim.x);
  TileCursor frames(task, TileKind::kFrames, kTileFrames);
  TileCursor padding(task, TileKind::kPadding, kTileFrames);
  int padding_rank = static_cast<int>(blockIdx.x);
  MelTile tile;
  for (int rank = static_cast<int>(blockIdx.x); frames.find(rank, tile); rank += step) {
    run_tile<Bank, Sample>(task, tile, shared);
    for (int i = 0; i < kPaddingPerTile && padding.find(padding_rank, tile); ++i) {
      write_padding(task, tile);
      padding_rank += step;
    }
  }
  for (; padding.find(padding_rank, tile); padding_rank += step) write_padding(task, tile);
}

template <class Bank, class Sample>
MelKernel kernel_of() {
  return {.function = reinterpret_cast<const void*>(&log_mel_portable<Bank, Sample>),
          .num_threads = kThreads,
          .blocks_per_multiprocessor = kBlocks,
          .shared_bytes = sizeof(Shared),
          .parts = {.num_parts = kWarps, .align = kPart}};
}

}  // namespace

MelKernel portable_kernel(const MelKernelChoice& choice) {
  if (choice.in == SampleType::kF32) return kernel_of<void, float>();
  switch (choice.bank) {
    case MelBank::kSlaney8000:
      return kernel_of<BankSlaney8000, std::int16_t>();
    case MelBank::kSlaney11025:
      return kernel_of<BankSlaney11025, std::int16_t>();
    case MelBank::kHtk11025:
      return kernel_of<BankHtk11025, std::int16_t>();
    case MelBank::kHtk12000:
      return kernel_of<BankHtk12000, std::int16_t>();
    case MelBank::kTable:
      break;
  }
  return kernel_of<void, std::int16_t>();
}

}  // namespace stoker::audio::device
