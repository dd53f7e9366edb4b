// The Hopper variant: one block per multiprocessor, its warps in three roles that hand tiles of 32
// frames on through barriers in shared memory.
//
//   loader (1 warp)     samples by bulk copy, reflected ends, padding-only tiles
//   transform (16)      two frames each: samples to magnitudes
//   bands (4)           one frame a lane: magnitudes to mel values, rows out by bulk copy
#include <cuda_runtime.h>

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
constexpr int kBandRegisters = 64;
constexpr int kLoaderRegisters = 32;
static_assert(4 * kFftRegisters + kBandRegisters + kLoaderRegisters <= 6 * 80);
constexpr int kSlots = 2;    // of samples and of magnitudes
constexpr int kRecords = 4;  // of tiles under way
constexpr int kBandAlign = 8;

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
  alignas(16) unsigned char rows[];  // [32 lanes][row stride], then one row of padding
};

// Bytes from one staged row to the next: an odd number of 16-byte groups, so that lanes writing 16
// bytes each meet no conflict.
__host__ __device__ constexpr int staged_row_bytes(int num_mels, int value_bytes) {
  return ((num_mels * value_bytes + 15) / 16 | 1) * 16;
}

__device__ __forceinline__ int value_bytes(const DeviceMelTask& task) {
  return task.dtype == config::MelDtype::kF32 ? 4 : 2;
}

__device__ __forceinline__ bool rows_copy_in_bulk(const DeviceMelTask& task) {
  return task.num_mels * value_bytes(task) % 16 == 0;
}

__device__ __forceinline__ unsigned char* row_of(const DeviceMelTask& task, int utterance,
                                                 int frame) {
  const std::int64_t row = static_cast<std::int64_t>(utterance) * task.padded_frames + frame;
  return static_cast<unsigned char*>(task.mel) + row * task.num_mels * value_bytes(task);
}

// One warp copies `num_bytes` (even) where bulk copies may not: rows that begin off 16 bytes.
__device__ __forceinline__ void copy_plainly(unsigned char* to, const unsigned char* from,
                                             int num_bytes, int lane) {
  for (int i = 2 * lane; i < num_bytes; i += 64) {
    *reinterpret_cast<std::uint16_t*>(to + i) = *reinterpret_cast<const std::uint16_t*>(from + i);
  }
}

// ---- loader ----

template <class Sample>
class Loader {
 public:
  __device__ Loader(const DeviceMelTask& task, Shared<Sample>& shared, int lane)
      : task_(task), shared_(shared), lane_(lane) {
    const int bytes = value_bytes(task);
    padding_row_ = shared.rows + 32 * staged_row_bytes(task.num_mels, bytes);
  }

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
    post({.utterance = 0, .first_frame = 0, .num_frames = -1, .num_rows = 0}, 0);
    wait_copies_done();
  }

 private:
  __device__ void load(const MelTile& tile) {
    const int slot = count_ % kSlots;
    shared_.samples_empty[slot].wait((count_ / kSlots & 1) ^ 1);
    Sample* const to = shared_.samples[slot];
    const Sample* const from = static_cast<const Sample*>(task_.samples) + tile.begin;
    const int first = task_.first_start + tile.first_frame * kHopSamples;
    const int needed = pair_samples(tile.num_frames);
    const int begin = max(first, 0);
    const int end = max(begin, min(first + needed, tile.num_samples & ~7));
    // What the bulk copy leaves out: before the utterance, and from its last group of 8 on.
    fill(to, from, tile.num_samples, first, first, min(begin, first + needed));
    fill(to, from, tile.num_samples, first, end, first + needed);
    __syncwarp();
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

  __device__ void post(const TileRecord& record, int num_bytes) {
    if (lane_ == 0) {
      shared_.records[count_ % kRecords] = record;
      shared_.samples_full[count_ % kSlots].arrive_expecting(static_cast<std::uint32_t>(num_bytes));
    }
  }

  __device__ void write_padding(const MelTile& tile) {
    const int num_bytes = task_.num_mels * value_bytes(task_);
    unsigned char* const rows = row_of(task_, tile.utterance, tile.first_frame);
    if (rows_copy_in_bulk(task_)) {
      if (lane_ < tile.num_rows) copy_out(rows + lane_ * num_bytes, padding_row_, num_bytes);
      close_copies();
      return;
    }
    for (int row = 0; row < tile.num_rows; ++row) {
      copy_plainly(rows + row * num_bytes, padding_row_, num_bytes, lane_);
    }
  }

  const DeviceMelTask& task_;
  Shared<Sample>& shared_;
  const unsigned char* padding_row_;
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
      __syncwarp();
      if (lane == 0) shared.samples_empty[slot].arrive();
      float* const pair = shared.pairs[slot] + warp_index * kPairStride;
      float* const exchange = shared.pairs[slot] + (warp_index * kPairStride + 31) / 32 * 32;
      const WarpFft warp{shared.window, shared.twiddles, pair, exchange, lane};
      pair_spectrum<kRows>(warp, samples, [&](Complex z) {
        const float power = fmaf(z.im, z.im, fmaf(z.re, z.re, task.epsilon));
        if constexpr (kAnyPower) return task.power == 1 ? approximate_root(power) : power;
        return approximate_root(power);
      });
    } else if (lane == 0) {
      shared.samples_empty[slot].arrive();
    }
    __syncwarp();
    if (lane == 0) shared.pairs_full[slot].arrive();
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

template <class Bank, class Sample>
__device__ void band_tiles(const DeviceMelTask& task, Shared<Sample>& shared, int part, int lane) {
  constexpr bool kRanged = is_ranged<Bank>();
  const int bytes = value_bytes(task);
  const int frame = 2 * (lane & 15) + (lane >> 4);
  unsigned char* const row = shared.rows + lane * staged_row_bytes(task.num_mels, bytes);
  const int begin = task.parts[part];
  const int end = task.parts[part + 1];
  for (int count = 0;; ++count) {
    const int slot = count % kSlots;
    shared.pairs_full[slot].wait(count / kSlots & 1);
    const TileRecord record = shared.records[count % kRecords];
    if (record.num_frames < 0) break;
    wait_copies_read();
    const float* const bins =
        shared.pairs[slot] + (lane & 15) * kPairStride + (lane >> 4) * kSecondFrame;
    RowStage<kRanged> stage{.task = task, .row = row, .has_frame = frame < record.num_frames};
    if constexpr (std::is_void_v<Bank>) {
      table_bands(task, begin, end, bins, [&](int group, int index, float sum) {
        stage.put(group, index, sum, group + index + 1 == end);
      });
    } else {
      fixed_part<Bank, kBandWarps, kBandAlign>(part, bins, [&](auto band, float sum) {
        stage.put(band / 8 * 8, band % 8, sum, band + 1 == Bank::kNumMels);
      });
    }
    __syncwarp();
    if (lane == 0) shared.pairs_empty[slot].arrive();
    if (kRanged && task.ranges != nullptr) {
      widen_range(task.ranges + 2 * record.utterance, stage.has_frame ? stage.lowest : INFINITY,
                  stage.has_frame ? stage.highest : -INFINITY);
    }
    unsigned char* const tile = row_of(task, record.utterance, record.first_frame);
    const int row_bytes = task.num_mels * bytes;
    if (rows_copy_in_bulk(task)) {
      publish_to_copies();
      if (frame < record.num_rows && begin < end) {
        copy_out(tile + frame * row_bytes + begin * bytes, row + begin * bytes,
                 static_cast<std::uint32_t>((end - begin) * bytes));
      }
      close_copies();
      continue;
    }
    __syncwarp();
    for (int other = 0; other < 32; ++other) {
      const int other_frame = 2 * (other & 15) + (other >> 4);
      if (other_frame >= record.num_rows) continue;
      copy_plainly(tile + other_frame * row_bytes + begin * bytes,
                   row + (other - lane) * staged_row_bytes(task.num_mels, bytes) + begin * bytes,
                   (end - begin) * bytes, lane);
    }
    __syncwarp();
  }
  wait_copies_done();
}

// ---- the kernel ----

template <class Sample>
__device__ void prepare(const DeviceMelTask& task, Shared<Sample>& shared) {
  for (int i = static_cast<int>(threadIdx.x); i < 8 * 32; i += kThreads) {
    shared.window[i] = reinterpret_cast<const float4*>(task.window)[i];
    shared.twiddles[i] = reinterpret_cast<const float4*>(task.twiddles)[i];
  }
  const int bytes = value_bytes(task);
  unsigned char* const padding = shared.rows + 32 * staged_row_bytes(task.num_mels, bytes);
  for (int band = static_cast<int>(threadIdx.x); band < task.num_mels; band += kThreads) {
    if (bytes == 4) {
      reinterpret_cast<float*>(padding)[band] = task.padding;
    } else {
      reinterpret_cast<std::uint16_t*>(padding)[band] = narrow_bits(task.dtype, task.padding);
    }
  }
  publish_to_copies();
  if (threadIdx.x == 0) {
    for (int slot = 0; slot < kSlots; ++slot) {
      shared.samples_full[slot].init(1);
      shared.samples_empty[slot].init(kFftWarps);
      shared.pairs_full[slot].init(kFftWarps);
      shared.pairs_empty[slot].init(kBandWarps);
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
    band_tiles<Bank>(task, shared, warp - kFftWarps, lane);
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
          .shared_bytes = sizeof(Shared<Sample>) + 33 * static_cast<std::size_t>(row_bytes),
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
