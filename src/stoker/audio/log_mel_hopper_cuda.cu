// The Hopper variant: one block per multiprocessor, its warps in three roles that hand tiles of 32
// frames on through barriers in shared memory.
//
//   loader (1 warp)     samples by bulk copy, reflected ends, padding-only tiles
//   transform (16)      two frames each: samples to magnitudes
//   bands (4)           one frame a lane: magnitudes to mel values, staged and written as whole
//   rows
#include <cuda_runtime.h>

#include <cstring>

#include "stoker/audio/device_mel_kernels.h"
#include "stoker/audio/hopper_pipe_cuda.cuh"
#include "stoker/audio/mel_band_code_cuda.cuh"
#include "stoker/audio/mel_banks_generated.h"
#include "stoker/audio/mel_fft1024_cuda.cuh"
#include "stoker/audio/mel_tile_cuda.cuh"

namespace stoker::audio::device {
namespace {

constexpr int kFftWarps = 16;
constexpr int kBandWarps = 4;
constexpr int kThreads =
    32 * (kFftWarps + kBandWarps + 4);  // the loader's group of four has one at work
// Registers a thread of each role. Taking waits until others have left as many of the 80 that each
// thread of 24 warps begins with.
constexpr int kFftRegisters = 96;
constexpr int kBandRegisters = 56;
constexpr int kLoaderRegisters = 40;
static_assert(4 * kFftRegisters + kBandRegisters + kLoaderRegisters <= 6 * 80);
constexpr int kSlots = 2;    // of samples and of magnitudes
constexpr int kRecords = 4;  // of tiles under way
constexpr int kBandAlign = 8;
constexpr int kBandThreads = 32 * kBandWarps;
// Staged rows: with two sets one is written while the other is filled; floats leave room for one.
template <class Sample>
constexpr int kStages = sizeof(Sample) == 2 ? 2 : 1;

#ifndef STOKER_ARRIVALS
#define STOKER_ARRIVALS 1
#endif
constexpr int kArrivals = STOKER_ARRIVALS;  // of a warp

__device__ __forceinline__ void arrive(Barrier& barrier, int lane) {
  if constexpr (kArrivals == 32) {
    barrier.arrive();
  } else {
    __syncwarp();
    if (lane == 0) barrier.arrive();
  }
}

// Waits for the four warps of the bands.
__device__ __forceinline__ void sync_bands() {
  asm volatile("bar.sync 1, %0;" ::"n"(kBandThreads) : "memory");
}

struct TileRecord {
  int utterance;
  int first_frame;
  int num_frames;  // -1: no more tiles
  int num_rows;
};

template <class Sample>
struct Shared {
  alignas(128) float pairs[kSlots][kFftWarps * kPairStride + 16];
  alignas(128) float4 window[8 * 32];
  float4 twiddles[8 * 32];
  alignas(128) Sample samples[kSlots][kTileSamples];
  Barrier samples_full[kSlots];
  Barrier samples_empty[kSlots];
  Barrier pairs_full[kSlots];
  Barrier pairs_empty[kSlots];
  TileRecord records[kRecords];
  alignas(16) unsigned char rows[];  // [kStages][32 lanes][row stride]
};

// Bytes from one staged row to the next: an odd number of 16-byte groups, so that lanes writing 16
// bytes each meet no conflict.
__host__ __device__ constexpr int staged_row_bytes(int num_mels, int value_bytes) {
  return ((num_mels * value_bytes + 15) / 16 | 1) * 16;
}

__device__ __forceinline__ int value_bytes(const DeviceMelTask& task) {
  return task.dtype == config::MelDtype::kF32 ? 4 : 2;
}

__device__ __forceinline__ unsigned char* row_of(const DeviceMelTask& task, int utterance,
                                                 int frame) {
  const std::int64_t row = static_cast<std::int64_t>(utterance) * task.padded_frames + frame;
  return static_cast<unsigned char*>(task.mel) + row * task.num_mels * value_bytes(task);
}

// Calls `step` with the widest unit (16, 8 or 2 bytes) that rows of this many bytes are made of.
template <class Step>
__device__ __forceinline__ void with_widest_unit(int row_bytes, Step step) {
  if (row_bytes % 16 == 0) {
    step(uint4{});
  } else if (row_bytes % 8 == 0) {
    step(uint2{});
  } else {
    step(std::uint16_t{});
  }
}

// ---- loader ----

template <class Sample>
class Loader {
 public:
  __device__ Loader(const DeviceMelTask& task, Shared<Sample>& shared, int lane)
      : task_(task), shared_(shared), lane_(lane) {}

  __device__ void run() {
    const int per_utterance = (task_.padded_frames + kTileFrames - 1) / kTileFrames;
    const int num_tiles = task_.num_utterances * per_utterance;
    int index = static_cast<int>(blockIdx.x);
    MelTile next{};
    if (index < num_tiles) next = tile_at(task_, index, kTileFrames);
    while (index < num_tiles) {
      const MelTile tile = next;
      index += static_cast<int>(gridDim.x);
      if (index < num_tiles) next = tile_at(task_, index, kTileFrames);
      if (tile.num_frames > 0) {
        load(tile);
      } else {
        write_padding(tile);
      }
    }
    wait_for_slot();
    post({.utterance = 0, .first_frame = 0, .num_frames = -1, .num_rows = 0}, 0);
  }

 private:
  __device__ void load(const MelTile& tile) {
    const int slot = wait_for_slot();
    Sample* const to = shared_.samples[slot];
    const Sample* const from = static_cast<const Sample*>(task_.samples) + tile.begin;
    const int first = task_.first_start + tile.first_frame * kHopSamples;
    const int needed = pair_samples(tile.num_frames);
    const int begin = max(first, 0);
    const int end = max(begin, min(first + needed, tile.num_samples & ~7));
    // What the bulk copy leaves out: before the utterance, and from its last group of 8 on.
    fill(to, from, tile.num_samples, first, first, min(begin, first + needed));
    fill(to, from, tile.num_samples, first, end, first + needed);
    post({.utterance = tile.utterance,
          .first_frame = tile.first_frame,
          .num_frames = tile.num_frames,
          .num_rows = tile.num_rows},
         (end - begin) * static_cast<int>(sizeof(Sample)));
    if (lane_ == 0 && end > begin) {
      copy_in(to + (begin - first), from + begin,
              static_cast<std::uint32_t>((end - begin) * sizeof(Sample)),
              shared_.samples_full[slot]);
    }
    ++count_;
  }

  __device__ void fill(Sample* to, const Sample* from, int num_samples, int first, int begin,
                       int end) {
    for (int position = begin + lane_; position < end; position += 32) {
      const int source = source_of(position, num_samples, task_.reflects != 0);
      to[position - first] = source < 0 ? Sample{} : from[source];
    }
  }

  // Until the slot of the next tile has been read to the end.
  __device__ int wait_for_slot() {
    const int slot = count_ % kSlots;
    shared_.samples_empty[slot].wait((count_ / kSlots & 1) ^ 1);
    return slot;
  }

  // Every lane arrives, for it may have written samples of its own.
  __device__ void post(const TileRecord& record, int num_bytes) {
    Barrier& full = shared_.samples_full[count_ % kSlots];
    if (lane_ == 0) {
      shared_.records[count_ % kRecords] = record;
      full.arrive_expecting(static_cast<std::uint32_t>(num_bytes));
    } else {
      full.arrive();
    }
  }

  __device__ void write_padding(const MelTile& tile) {
    const int row_bytes = task_.num_mels * value_bytes(task_);
    unsigned char* const to = row_of(task_, tile.utterance, tile.first_frame);
    const std::uint32_t word = padding_word(task_);
    with_widest_unit(row_bytes, [&](auto unit) {
      std::memcpy(&unit, &word, sizeof(unit) < 4 ? sizeof(unit) : 4);
      if constexpr (sizeof(unit) >= 8) unit.y = word;
      if constexpr (sizeof(unit) == 16) unit.z = unit.w = word;
      auto* const units = reinterpret_cast<decltype(unit)*>(to);
      const int num_units = tile.num_rows * row_bytes / static_cast<int>(sizeof(unit));
      for (int i = lane_; i < num_units; i += 32) units[i] = unit;
    });
  }

  const DeviceMelTask& task_;
  Shared<Sample>& shared_;
  int lane_;
  int count_ = 0;
};

// ---- transform ----

template <int kRows, bool kAnyPower, class Sample>
__device__ void transform_tiles(const DeviceMelTask& task, Shared<Sample>& shared, int warp_index,
                                int lane) {
  for (int count = 0;; ++count) {
    const int slot = count % kSlots;
    const int parity = count / kSlots & 1;
    shared.samples_full[slot].wait(parity);
    const int num_frames = shared.records[count % kRecords].num_frames;
    if (num_frames >= 0) shared.pairs_empty[slot].wait(parity ^ 1);
    if (2 * warp_index < num_frames) {
      float samples[kPairSamples];
      const Sample* const from = shared.samples[slot] + 2 * warp_index * kHopSamples + lane;
#pragma unroll
      for (int i = 0; i < kPairSamples; ++i) samples[i] = sane(from[32 * i]);
      arrive(shared.samples_empty[slot], lane);
      float* const pair = shared.pairs[slot] + warp_index * kPairStride;
      float* const exchange = shared.pairs[slot] + (warp_index * kPairStride + 31) / 32 * 32;
      const WarpFft warp{shared.window, shared.twiddles, pair, exchange, lane};
      pair_spectrum<kRows>(warp, samples, [&](Complex z) {
        const float power = fmaf(z.im, z.im, fmaf(z.re, z.re, task.epsilon));
        if constexpr (kAnyPower) return task.power == 1 ? approximate_root(power) : power;
        return approximate_root(power);
      });
    } else {
      arrive(shared.samples_empty[slot], lane);
    }
    arrive(shared.pairs_full[slot], lane);
    if (num_frames < 0) return;
  }
}

// ---- bands ----

// Collects a lane's values in groups of eight and writes them to its staged row.
template <bool kRanged>
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
  // Writes whole groups of 16 bytes; what lies beyond the last band is never copied out.
  __device__ __forceinline__ void flush(int band) {
    if (task.dtype == config::MelDtype::kF32) {
      auto* const to = reinterpret_cast<float4*>(row + band * 4);
      to[0] = make_float4(group[0], group[1], group[2], group[3]);
      if (band + 4 < task.num_mels) to[1] = make_float4(group[4], group[5], group[6], group[7]);
      return;
    }
    std::uint32_t two[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      two[i] = narrow_bits(task.dtype, group[2 * i]) |
               static_cast<std::uint32_t>(narrow_bits(task.dtype, group[2 * i + 1])) << 16;
    }
    *reinterpret_cast<uint4*>(row + band * 2) = make_uint4(two[0], two[1], two[2], two[3]);
  }
};

// Bands of one tile by one warp, lane = frame, into its part of the staged rows.
template <class Bank>
__device__ __forceinline__ void stage_bands(const DeviceMelTask& task, const TileRecord& record,
                                            const float* bins, unsigned char* row) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int part = static_cast<int>(threadIdx.x) / 32 - kFftWarps;
  constexpr bool kRanged = is_ranged<Bank>();
  RowStage<kRanged> stage{.task = task, .row = row, .has_frame = lane < record.num_frames};
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
__device__ __forceinline__ void write_rows(const DeviceMelTask& task, const TileRecord& record,
                                           const unsigned char* rows) {
  const int bytes = value_bytes(task);
  const int row_bytes = task.num_mels * bytes;
  const int stride = staged_row_bytes(task.num_mels, bytes);
  unsigned char* const to = row_of(task, record.utterance, record.first_frame);
  with_widest_unit(row_bytes, [&](auto unit) {
    using Unit = decltype(unit);
    const int per_row = row_bytes / static_cast<int>(sizeof(Unit));
    const int first = static_cast<int>(threadIdx.x) - 32 * kFftWarps;
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

template <class Bank, class Sample>
__device__ void band_tiles(const DeviceMelTask& task, Shared<Sample>& shared) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int stride = staged_row_bytes(task.num_mels, value_bytes(task));
  for (int count = 0;; ++count) {
    const int slot = count % kSlots;
    shared.pairs_full[slot].wait(count / kSlots & 1);
    const TileRecord record = shared.records[count % kRecords];
    if (record.num_frames < 0) return;
    unsigned char* const rows = shared.rows + count % kStages<Sample> * 32 * stride;
    const float* const bins = shared.pairs[slot] + lane / 2 * kPairStride + lane % 2 * kSecondFrame;
    if (kStages<Sample> == 1) sync_bands();
    stage_bands<Bank>(task, record, bins, rows + lane * stride);
    arrive(shared.pairs_empty[slot], lane);
    sync_bands();
    write_rows(task, record, rows);
  }
}

// ---- the kernel ----

template <class Sample>
__device__ void prepare(const DeviceMelTask& task, Shared<Sample>& shared) {
  for (int i = static_cast<int>(threadIdx.x); i < 8 * 32; i += kThreads) {
    shared.window[i] = reinterpret_cast<const float4*>(task.window)[i];
    shared.twiddles[i] = reinterpret_cast<const float4*>(task.twiddles)[i];
  }
  if (threadIdx.x == 0) {
    for (int slot = 0; slot < kSlots; ++slot) {
      shared.samples_full[slot].init(32);
      shared.samples_empty[slot].init(kFftWarps * kArrivals);
      shared.pairs_full[slot].init(kFftWarps * kArrivals);
      shared.pairs_empty[slot].init(kBandWarps * kArrivals);
    }
    publish_barriers();
  }
  __syncthreads();
}

template <class Bank, class Sample>
__global__ void __launch_bounds__(kThreads, 1)
    log_mel_hopper(const __grid_constant__ DeviceMelTask task) {
  extern __shared__ __align__(128) unsigned char memory[];
  auto& shared = *reinterpret_cast<Shared<Sample>*>(memory);
  prepare(task, shared);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (warp < kFftWarps) {
    take_registers<kFftRegisters>();
    transform_tiles<rows_of_bank<Bank>(), std::is_void_v<Bank>>(task, shared, warp, lane);
  } else if (warp < kFftWarps + kBandWarps) {
    leave_registers<kBandRegisters>();
    band_tiles<Bank>(task, shared);
  } else {
    leave_registers<kLoaderRegisters>();
    if (warp == kFftWarps + kBandWarps) Loader<Sample>(task, shared, lane).run();
  }
}

template <class Bank, class Sample>
MelKernel kernel_of(const MelKernelChoice& choice) {
  const int row_bytes =
      staged_row_bytes(choice.num_mels, static_cast<int>(config::bytes_per_value(choice.out)));
  return {.function = reinterpret_cast<const void*>(&log_mel_hopper<Bank, Sample>),
          .num_threads = kThreads,
          .blocks_per_multiprocessor = 1,
          .shared_bytes =
              sizeof(Shared<Sample>) + kStages<Sample> * 32 * static_cast<std::size_t>(row_bytes),
          .parts = {.num_parts = kBandWarps, .align = kBandAlign}};
}

}  // namespace

bool has_hopper_kernels() { return true; }

MelKernel hopper_kernel(const MelKernelChoice& choice) {
  if (choice.in == SampleType::kF32) return kernel_of<void, float>(choice);
  switch (choice.bank) {
    case MelBank::kSlaney8000:
      return kernel_of<BankSlaney8000, std::int16_t>(choice);
    case MelBank::kSlaney11025:
      return kernel_of<BankSlaney11025, std::int16_t>(choice);
    case MelBank::kHtk11025:
      return kernel_of<BankHtk11025, std::int16_t>(choice);
    case MelBank::kHtk12000:
      return kernel_of<BankHtk12000, std::int16_t>(choice);
    case MelBank::kTable:
      break;
  }
  return kernel_of<void, std::int16_t>(choice);
}

}  // namespace stoker::audio::device
