// The portable variant: a block computes a tile of 32 frames in steps between block-wide barriers,
// with at most 96 KB of shared memory and nothing that an RTX 30 card lacks.
#include <cuda_runtime.h>

#include "stoker/audio/mel/cuda/band_code.cuh"
#include "stoker/audio/mel/cuda/banks_generated.h"
#include "stoker/audio/mel/cuda/fft1024.cuh"
#include "stoker/audio/mel/cuda/kernels.h"
#include "stoker/audio/mel/cuda/tile.cuh"
#include "stoker/audio/mel/cuda/tile_cursor.cuh"

namespace stoker::audio::device {
namespace {

constexpr int kPairs = kTileFrames / 2;
constexpr int kPart = 1;  // bands in a part: any number

constexpr int kBlocks = 2;          // on a multiprocessor, where its memory allows
constexpr int kPaddingPerTile = 2;  // tiles of padding written with each tile of frames

// Doubles take twice the registers, so that half the warps fit.
template <class Real>
constexpr int kWarps = sizeof(Real) == 4 ? 8 : 4;
template <class Real>
constexpr int kThreads = 32 * kWarps<Real>;

template <class Real>
struct Shared {
  static constexpr int kTableUnits = LaneTable<Real>::kUnits * 32;
  // Doubles leave no room for the window: it is read from device memory, through the first cache.
  static constexpr bool kHasWindow = sizeof(Real) == 4;

  alignas(128) float pairs[kPairs * kPairStride + 16];
  uint4 window[kHasWindow ? kTableUnits : 1];
  uint4 twiddles[kTableUnits];
  // Samples of the tile until they are transformed, then its mel values [32 lanes][num_mels | 1].
  alignas(16) unsigned char tile[kTileSamples * sizeof(std::int16_t)];
};
static_assert(sizeof(Shared<float>) <= 96 * 1024 && sizeof(Shared<double>) <= 96 * 1024);

__device__ void write_padding(const DeviceMelTask& task, const MelTile& tile) {
  const std::int64_t first = first_value(task, tile);
  for (int i = static_cast<int>(threadIdx.x); i < tile.num_rows * task.num_mels;
       i += static_cast<int>(blockDim.x)) {
    store_value(task, first + i, task.padding);
  }
}

// 16 bytes a thread inside the utterance, sample by sample at its ends.
__device__ void load_samples(const DeviceMelTask& task, const MelTile& tile, std::int16_t* to) {
  const auto* const from = static_cast<const std::int16_t*>(task.samples) + tile.begin;
  const int first = task.first_start + tile.first_frame * kHopSamples;
  const int needed = pair_samples(tile.num_frames);
  for (int i = 8 * static_cast<int>(threadIdx.x); i < needed;
       i += 8 * static_cast<int>(blockDim.x)) {
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

template <class Sample, class Real>
__device__ __forceinline__ void lane_samples(const DeviceMelTask& task, const MelTile& tile,
                                             const Shared<Real>& shared, int pair,
                                             Real (&samples)[kPairSamples]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if constexpr (sizeof(Sample) == 2) {
    const auto* const from =
        reinterpret_cast<const Sample*>(shared.tile) + 2 * pair * kHopSamples + lane;
#pragma unroll
    for (int i = 0; i < kPairSamples; ++i) samples[i] = real_sample<Real>(from[32 * i]);
  } else {
    // Floats of a tile are too many for 96 KB: each warp reads its own, through the first cache.
    const auto* const from = static_cast<const Sample*>(task.samples) + tile.begin;
    const int first = task.first_start + (tile.first_frame + 2 * pair) * kHopSamples + lane;
#pragma unroll
    for (int i = 0; i < kPairSamples; ++i) {
      const int source = source_of(first + 32 * i, tile.num_samples, task.reflects != 0);
      samples[i] = source < 0 ? Real{} : real_sample<Real>(from[source]);
    }
  }
}

template <class Bank, class Sample, class Real>
__device__ __forceinline__ void transform_pair(const DeviceMelTask& task, const MelTile& tile,
                                               Shared<Real>& shared, int pair) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  Real samples[kPairSamples];
  lane_samples<Sample>(task, tile, shared, pair, samples);
  const uint4* window = shared.window;
  if constexpr (!Shared<Real>::kHasWindow) window = static_cast<const uint4*>(task.window);
  const WarpFft<Real> warp{{window, lane},
                           {shared.twiddles, lane},
                           shared.pairs + pair * kPairStride,
                           shared.pairs + (pair * kPairStride + 31) / 32 * 32,
                           lane};
  constexpr int kPower = std::is_void_v<Bank> ? 0 : 1;
  pair_spectrum<rows_of_bank<Bank>()>(warp, samples,
                                      [&](Complex<Real> z) { return size_of<kPower>(task, z); });
}

template <class Bank, class Real>
__device__ __forceinline__ void mel_part(const DeviceMelTask& task, const MelTile& tile,
                                         Shared<Real>& shared, int part, int lane) {
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
    fixed_part<Bank, kWarps<Real>, kPart>(part, bins, put);
  }
  if (is_ranged<Bank>() && task.ranges != nullptr) {
    widen_range(task.ranges + 2 * tile.utterance, has_frame ? lowest : INFINITY,
                has_frame ? highest : -INFINITY);
  }
}

template <class Real>
__device__ void write_rows(const DeviceMelTask& task, const MelTile& tile,
                           const Shared<Real>& shared, int warp, int lane) {
  const std::int64_t first = first_value(task, tile);
  for (int frame = warp; frame < tile.num_rows; frame += kWarps<Real>) {
    const int from_lane = frame / 2 + 16 * (frame % 2);
    const float* const row =
        reinterpret_cast<const float*>(shared.tile) + from_lane * (task.num_mels | 1);
    for (int band = lane; band < task.num_mels; band += 32) {
      store_value(task, first + frame * task.num_mels + band, row[band]);
    }
  }
}

template <class Bank, class Sample, class Real>
__device__ __forceinline__ void run_tile(const DeviceMelTask& task, const MelTile& tile,
                                         Shared<Real>& shared) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  __syncthreads();  // the last tile's rows are out
  if constexpr (sizeof(Sample) == 2) {
    load_samples(task, tile, reinterpret_cast<std::int16_t*>(shared.tile));
    __syncthreads();
  }
  for (int pair = warp; 2 * pair < tile.num_frames; pair += kWarps<Real>) {
    transform_pair<Bank, Sample>(task, tile, shared, pair);
  }
  __syncthreads();
  mel_part<Bank>(task, tile, shared, warp, lane);
  __syncthreads();
  write_rows(task, tile, shared, warp, lane);
}

template <class Real>
__device__ void load_tables(const DeviceMelTask& task, Shared<Real>& shared) {
  for (int i = static_cast<int>(threadIdx.x); i < Shared<Real>::kTableUnits; i += kThreads<Real>) {
    shared.twiddles[i] = static_cast<const uint4*>(task.twiddles)[i];
    if constexpr (Shared<Real>::kHasWindow) {
      shared.window[i] = static_cast<const uint4*>(task.window)[i];
    }
  }
}

template <class Bank, class Sample, class Real>
__global__ void __launch_bounds__(kThreads<Real>, kBlocks)
    log_mel_portable(const DeviceMelTask task) {
  extern __shared__ __align__(128) unsigned char memory[];
  auto& shared = *reinterpret_cast<Shared<Real>*>(memory);
  load_tables(task, shared);
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

template <class Bank, class Sample, class Real>
MelKernel kernel_of() {
  return {.function = reinterpret_cast<const void*>(&log_mel_portable<Bank, Sample, Real>),
          .num_threads = kThreads<Real>,
          .blocks_per_multiprocessor = kBlocks,
          .tile_frames = kTileFrames,
          .shared_bytes = sizeof(Shared<Real>),
          .waits_by_itself = false,
          .parts = {.num_parts = kWarps<Real>, .align = kPart}};
}

}  // namespace

MelKernel portable_kernel(const MelKernelChoice& choice) {
  if (choice.in == SampleType::kF32) {
    return choice.is_f64 ? kernel_of<void, float, double>() : kernel_of<void, float, float>();
  }
  switch (choice.bank) {
    case MelBank::kSlaney8000:
      return kernel_of<BankSlaney8000, std::int16_t, float>();
    case MelBank::kSlaney11025:
      return kernel_of<BankSlaney11025, std::int16_t, float>();
    case MelBank::kHtk11025:
      return kernel_of<BankHtk11025, std::int16_t, double>();
    case MelBank::kHtk12000:
      return kernel_of<BankHtk12000, std::int16_t, double>();
    case MelBank::kTable:
      break;
  }
  return choice.is_f64 ? kernel_of<void, std::int16_t, double>()
                       : kernel_of<void, std::int16_t, float>();
}

}  // namespace stoker::audio::device
