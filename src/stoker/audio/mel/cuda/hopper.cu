// The Hopper variant: one block per multiprocessor, its warps in three roles that hand tiles of 32
// frames on through barriers in shared memory.
//
//   loader (1 warp)     samples by bulk copy, reflected ends, padding-only tiles
//   transform (16)      two frames each: samples to magnitudes
//   bands (4)           one frame a lane: magnitudes to mel values, staged and written as whole
//   rows
#include <cuda_runtime.h>

#include "stoker/audio/mel/cuda/band_code.cuh"
#include "stoker/audio/mel/cuda/banks_generated.h"
#include "stoker/audio/mel/cuda/hopper_block.cuh"
#include "stoker/audio/mel/cuda/hopper_loader.cuh"
#include "stoker/audio/mel/cuda/kernels.h"

namespace stoker::audio::device {
namespace hopper {
namespace {

// By the warps that read them, while the loader looks for the first tile.
template <class Shape>
__device__ void load_tables(const DeviceMelTask& task, Shared<Shape>& shared) {
  constexpr int kFftThreads = 32 * Shape::kFftWarps;
  for (int i = static_cast<int>(threadIdx.x); i < Shared<Shape>::kTableUnits; i += kFftThreads) {
    shared.window[i] = static_cast<const uint4*>(task.window)[i];
    shared.twiddles[i] = static_cast<const uint4*>(task.twiddles)[i];
  }
  asm volatile("bar.sync 2, %0;" ::"n"(kFftThreads) : "memory");
}

// The samples of a pair to its magnitudes. `between` runs when the samples have been read and
// nothing has been written.
template <class Bank, class Shape, class Between>
__device__ __forceinline__ void transform_pair(const DeviceMelTask& task, Shared<Shape>& shared,
                                               const typename Shape::Sample* tile, float* pairs,
                                               int pair, Between between) {
  using Real = typename Shape::Real;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  Real samples[kPairSamples];
  const auto* const from = tile + 2 * pair * kHopSamples + lane;
#pragma unroll
  for (int i = 0; i < kPairSamples; ++i) samples[i] = real_sample<Real>(from[32 * i]);
  between();
  const WarpFft<Real> warp{{shared.window, lane},
                           {shared.twiddles, lane},
                           pairs + pair * kPairStride,
                           pairs + (pair * kPairStride + 31) / 32 * 32,
                           lane};
  constexpr int kPower = std::is_void_v<Bank> ? 0 : 1;
  pair_spectrum<rows_of_bank<Bank>()>(warp, samples,
                                      [&](Complex<Real> z) { return size_of<kPower>(task, z); });
}

template <class Bank, class Shape>
__device__ void transform_tiles(const DeviceMelTask& task, Shared<Shape>& shared, int warp_index) {
  constexpr int kLastPair = kTileFrames / 2 - Shape::kFftWarps;
  for (int count = 0;; ++count) {
    const int sample_slot = count % Shape::kSampleSlots;
    shared.samples_full[sample_slot].wait(count / Shape::kSampleSlots & 1);
    const int num_frames = shared.records[count % kRecords].num_frames;
    const int slot = count % kSlots;
    const int free_parity = (count / kSlots & 1) ^ 1;
#pragma unroll 1
    for (int first = 0; first <= kLastPair; first += Shape::kFftWarps) {
      // Also before the last word: a warp that arrives for it must not be counted for the tile
      // before in this slot, which another warp may still be transforming.
      const auto between = [&] {
        if (first == kLastPair) shared.samples_empty[sample_slot].arrive();
        if (first == 0) shared.pairs_empty[slot].wait(free_parity);
      };
      if (2 * (first + warp_index) < num_frames) {
        transform_pair<Bank>(task, shared, shared.samples[sample_slot], shared.pairs[slot],
                             first + warp_index, between);
      } else {
        between();
      }
    }
    shared.pairs_full[slot].arrive();
    if (num_frames < 0) return;
  }
}

// Collects a lane's values in groups of eight and writes them to its staged row.
template <bool kRanged, class Value>
struct RowStage {
  const DeviceMelTask& task;
  unsigned char* row;
  bool has_frame;
  float lowest = INFINITY;
  float highest = -INFINITY;
  float group[8];

  __device__ __forceinline__ void put(int first, int index, float sum, bool is_last) {
    const float value = compressed(task, sum);
    if constexpr (kRanged) {
      lowest = fminf(lowest, value);
      highest = fmaxf(highest, value);
    }
    group[index] = has_frame ? value : task.padding;
    if (index == 7 || is_last) flush(first);
  }
  // Writes whole groups of 16 bytes; what is beyond the last band is never copied out.
  __device__ __forceinline__ void flush(int band) {
    if constexpr (sizeof(Value) == 4) {
      auto* const to = reinterpret_cast<float4*>(row + band * 4);
      to[0] = make_float4(group[0], group[1], group[2], group[3]);
      if (band + 4 < task.num_mels) to[1] = make_float4(group[4], group[5], group[6], group[7]);
    } else {
      std::uint32_t two[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        two[i] = narrow_bits(task.dtype, group[2 * i]) |
                 static_cast<std::uint32_t>(narrow_bits(task.dtype, group[2 * i + 1])) << 16;
      }
      *reinterpret_cast<uint4*>(row + band * 2) = make_uint4(two[0], two[1], two[2], two[3]);
    }
  }
};

// Bands of one tile by one warp, lane = frame, into its part of the staged rows.
template <class Bank, class Shape>
__device__ __forceinline__ void stage_bands(const DeviceMelTask& task, const TileRecord& record,
                                            const float* bins, unsigned char* row) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int part = static_cast<int>(threadIdx.x) / 32 - Shape::kFftWarps;
  constexpr bool kRanged = is_ranged<Bank>();
  RowStage<kRanged, typename Shape::Value> stage{
      .task = task, .row = row, .has_frame = lane < record.num_frames};
  if constexpr (std::is_void_v<Bank>) {
    const int end = task.parts[part + 1];
    table_bands(task, task.parts[part], end, bins, [&](int group, int index, float sum) {
      stage.put(group, index, sum, group + index + 1 == end);
    });
  } else {
    fixed_part<Bank, kBandWarps, kBandAlign>(part, bins, [&](auto band, float sum) {
      stage.put(band / 8 * 8, band % 8, sum, band + 1 == Bank::kNumMels);
    });
  }
  if (kRanged && task.ranges != nullptr) {
    widen_range(task.ranges + 2 * record.utterance, stage.has_frame ? stage.lowest : INFINITY,
                stage.has_frame ? stage.highest : -INFINITY);
  }
}

// The staged rows of a tile to where they belong, neighbouring threads to neighbouring bytes.
template <class Shape>
__device__ __forceinline__ void write_rows(const DeviceMelTask& task, const TileRecord& record,
                                           const unsigned char* rows) {
  using Value = typename Shape::Value;
  const int row_bytes = task.num_mels * static_cast<int>(sizeof(Value));
  const int stride = staged_row_bytes<Value>(task.num_mels);
  unsigned char* const to = row_of<Value>(task, record.utterance, record.first_frame);
  with_widest_unit(row_bytes, [&](auto unit) {
    using Unit = decltype(unit);
    const int per_row = row_bytes / static_cast<int>(sizeof(Unit));
    const int first = static_cast<int>(threadIdx.x) - 32 * Shape::kFftWarps;
    int row = first / per_row;
    int column = first % per_row;
    while (row < record.num_rows) {
      reinterpret_cast<Unit*>(to + row * row_bytes)[column] =
          reinterpret_cast<const Unit*>(rows + row * stride)[column];
      row += kBandThreads / per_row;
      column += kBandThreads % per_row;
      if (column >= per_row) {
        column -= per_row;
        ++row;
      }
    }
  });
}

template <class Bank, class Shape>
__device__ void band_tiles(const DeviceMelTask& task, Shared<Shape>& shared) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int stride = staged_row_bytes<typename Shape::Value>(task.num_mels);
  for (int count = 0;; ++count) {
    const int slot = count % kSlots;
    shared.pairs_full[slot].wait(count / kSlots & 1);
    const TileRecord record = shared.records[count % kRecords];
    if (record.num_frames < 0) return;
    unsigned char* const rows = shared.rows + count % Shape::kStages * 32 * stride;
    const float* const bins = shared.pairs[slot] + lane / 2 * kPairStride + lane % 2 * kSecondFrame;
    if (Shape::kStages == 1) sync_bands();
    stage_bands<Bank, Shape>(task, record, bins, rows + lane * stride);
    shared.pairs_empty[slot].arrive();
    sync_bands();
    write_rows<Shape>(task, record, rows);
  }
}

template <class Shape>
__device__ void make_barriers(Shared<Shape>& shared) {
  if (threadIdx.x == 0) {
    for (int slot = 0; slot < Shape::kSampleSlots; ++slot) {
      shared.samples_full[slot].init(32);
      shared.samples_empty[slot].init(Shape::kFftWarps * 32);
    }
    for (int slot = 0; slot < kSlots; ++slot) {
      shared.pairs_full[slot].init(Shape::kFftWarps * 32);
      shared.pairs_empty[slot].init(kBandWarps * 32);
    }
    publish_barriers();
  }
  __syncthreads();
}

template <class Bank, class Shape>
__global__ void __launch_bounds__(Shape::kThreads, 1)
    log_mel_hopper(const __grid_constant__ DeviceMelTask task) {
  extern __shared__ __align__(128) unsigned char memory[];
  auto& shared = *reinterpret_cast<Shared<Shape>*>(memory);
  let_next_kernel_begin();
  make_barriers(shared);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (warp < Shape::kFftWarps) {
    take_registers<Shape::kFftRegisters>();
    load_tables(task, shared);
    transform_tiles<Bank>(task, shared, warp);
  } else if (warp < Shape::kFftWarps + kBandWarps) {
    leave_registers<Shape::kBandRegisters>();
    band_tiles<Bank>(task, shared);
  } else {
    leave_registers<Shape::kLoaderRegisters>();
    if (warp > Shape::kFftWarps + kBandWarps) return;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (lane < task.num_utterances) {
      bring_near(task.lengths + lane);
      bring_near(task.begins + lane);
    }
    // Nothing of the batch is read or written before, and by the others only after a word of the
    // loader's.
    wait_for_previous_kernel();
    Loader<Shape>(task, shared, lane).run();
  }
}

template <class Bank, class Shape>
MelKernel kernel_for(const MelKernelChoice& choice) {
  const auto row_bytes =
      static_cast<std::size_t>(staged_row_bytes<typename Shape::Value>(choice.num_mels));
  return {.function = reinterpret_cast<const void*>(&log_mel_hopper<Bank, Shape>),
          .num_threads = Shape::kThreads,
          .blocks_per_multiprocessor = 1,
          .tile_frames = kTileFrames,
          .shared_bytes = sizeof(Shared<Shape>) + Shape::kStages * 32 * row_bytes,
          .waits_by_itself = true,
          .parts = {.num_parts = kBandWarps, .align = kBandAlign}};
}

template <class Bank, class Sample, class Real>
MelKernel kernel_of(const MelKernelChoice& choice) {
  return choice.out == config::MelDtype::kF32
             ? kernel_for<Bank, Shape<Sample, float, Real>>(choice)
             : kernel_for<Bank, Shape<Sample, std::uint16_t, Real>>(choice);
}

}  // namespace
}  // namespace hopper

bool has_hopper_kernels() { return true; }

MelKernel hopper_kernel(const MelKernelChoice& choice) {
  using hopper::kernel_of;
  if (choice.in == SampleType::kF32) {
    return choice.is_f64 ? kernel_of<void, float, double>(choice)
                         : kernel_of<void, float, float>(choice);
  }
  switch (choice.bank) {
    case MelBank::kSlaney8000:
      return kernel_of<BankSlaney8000, std::int16_t, float>(choice);
    case MelBank::kSlaney11025:
      return kernel_of<BankSlaney11025, std::int16_t, float>(choice);
    case MelBank::kHtk11025:
      return kernel_of<BankHtk11025, std::int16_t, double>(choice);
    case MelBank::kHtk12000:
      return kernel_of<BankHtk12000, std::int16_t, double>(choice);
    case MelBank::kTable:
      break;
  }
  return choice.is_f64 ? kernel_of<void, std::int16_t, double>(choice)
                       : kernel_of<void, std::int16_t, float>(choice);
}

}  // namespace stoker::audio::device
