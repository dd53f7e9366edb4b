// What the warps of the Hopper kernel share: their numbers, the block's memory and its barriers.
#pragma once

#include <cstdint>

#include "stoker/audio/mel/cuda/hopper_pipe_cuda.cuh"
#include "stoker/audio/mel/cuda/mel_fft1024_cuda.cuh"
#include "stoker/audio/mel/cuda/mel_tile_cuda.cuh"

namespace stoker::audio::device::hopper {

inline constexpr int kBandWarps = 4;
inline constexpr int kBandThreads = 32 * kBandWarps;
inline constexpr int kSlots = 2;    // of magnitudes
inline constexpr int kRecords = 6;  // of tiles under way
inline constexpr int kBandAlign = 8;
inline constexpr int kPaddingPerTile = 2;  // tiles of padding written with each tile of frames

// What a kernel reads, what it writes and what its transforms compute in. `Value` is float, or
// std::uint16_t for both narrow dtypes: code for one of them only keeps the kernel within the
// instruction cache, which is worth a tenth of its speed.
template <class SampleType, class ValueType, class RealType>
struct Shape {
  using Sample = SampleType;
  using Value = ValueType;
  using Real = RealType;
  static constexpr bool kIsF64 = sizeof(Real) == 8;

  // Each transforms a pair of frames at a time; doubles take twice the registers.
  static constexpr int kFftWarps = kIsF64 ? 8 : 16;
  static constexpr int kGroups = kFftWarps / 4 + 2;  // of four warps; the loader's has one at work
  static constexpr int kThreads = 128 * kGroups;
  // Registers a thread of each role. Taking waits until others have left as many of those that
  // each thread begins with.
  static constexpr int kFftRegisters = kIsF64 ? 208 : 96;
  static constexpr int kBandRegisters = 48;
  static constexpr int kLoaderRegisters = 48;
  static constexpr int kFirstRegisters = kIsF64 ? 128 : 80;
  static_assert(kFftWarps / 4 * kFftRegisters + kBandRegisters + kLoaderRegisters <=
                kGroups * kFirstRegisters);

  // Slots of samples: three hide the time that reflecting an end takes; floats and the tables of
  // doubles leave room for less.
  static constexpr int kSampleSlots = (sizeof(Sample) == 2 ? 3 : 2) - (kIsF64 ? 1 : 0);
  // Staged rows: with two sets one is written while the other is filled.
  static constexpr int kStages = sizeof(Sample) == 2 ? 2 : 1;
};

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

template <class Shape>
struct Shared {
  static constexpr int kTableUnits = LaneTable<typename Shape::Real>::kUnits * 32;

  alignas(128) float pairs[kSlots][kTileFrames / 2 * kPairStride + 16];
  alignas(128) uint4 window[kTableUnits];
  uint4 twiddles[kTableUnits];
  alignas(128) typename Shape::Sample samples[Shape::kSampleSlots][kTileSamples];
  Barrier samples_full[Shape::kSampleSlots];
  Barrier samples_empty[Shape::kSampleSlots];
  Barrier pairs_full[kSlots];
  Barrier pairs_empty[kSlots];
  TileRecord records[kRecords];
  alignas(16) unsigned char rows[];  // [kStages][32 lanes][row stride]
};

// Bytes from one staged row to the next: an odd number of 16-byte groups, so that lanes writing 16
// bytes each meet no conflict.
template <class Value>
__host__ __device__ constexpr int staged_row_bytes(int num_mels) {
  return ((num_mels * static_cast<int>(sizeof(Value)) + 15) / 16 | 1) * 16;
}

template <class Value>
__device__ __forceinline__ unsigned char* row_of(const DeviceMelTask& task, int utterance,
                                                 int frame) {
  const std::int64_t row = static_cast<std::int64_t>(utterance) * task.padded_frames + frame;
  return reinterpret_cast<unsigned char*>(static_cast<Value*>(task.mel) + row * task.num_mels);
}

// Calls `step` with the widest unit (16, 8, 4 or 2 bytes) that rows of this many bytes are made of:
// never narrower than a value.
template <class Step>
__device__ __forceinline__ void with_widest_unit(int row_bytes, Step step) {
  if (row_bytes % 16 == 0) {
    step(uint4{});
  } else if (row_bytes % 8 == 0) {
    step(uint2{});
  } else if (row_bytes % 4 == 0) {
    step(std::uint32_t{});
  } else {
    step(std::uint16_t{});
  }
}

}  // namespace stoker::audio::device::hopper
