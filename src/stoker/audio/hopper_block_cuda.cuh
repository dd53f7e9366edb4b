// What the warps of the Hopper kernel share: their numbers, the block's memory and its barriers.
#pragma once

#include <cstdint>

#include "stoker/audio/hopper_pipe_cuda.cuh"
#include "stoker/audio/mel_fft1024_cuda.cuh"
#include "stoker/audio/mel_tile_cuda.cuh"

namespace stoker::audio::device::hopper {

inline constexpr int kFftWarps = 16;
inline constexpr int kBandWarps = 4;
inline constexpr int kThreads =
    32 * (kFftWarps + kBandWarps + 4);  // the loader's group of four has one at work
// Registers a thread of each role. Taking waits until others have left as many of the 80 that each
// thread of 24 warps begins with.
inline constexpr int kFftRegisters = 96;
inline constexpr int kBandRegisters = 48;
inline constexpr int kLoaderRegisters = 48;
static_assert(4 * kFftRegisters + kBandRegisters + kLoaderRegisters <= 6 * 80);
inline constexpr int kSlots = 2;    // of magnitudes
inline constexpr int kRecords = 6;  // of tiles under way
// Of samples; three hide the time that reflecting an end takes, floats leave room for two.
template <class Sample>
inline constexpr int kSampleSlots = sizeof(Sample) == 2 ? 3 : 2;
inline constexpr int kBandAlign = 8;
inline constexpr int kPaddingPerTile = 2;  // tiles of padding written with each tile of frames
inline constexpr int kBandThreads = 32 * kBandWarps;
// Staged rows: with two sets one is written while the other is filled; floats leave room for one.
template <class Sample>
inline constexpr int kStages = sizeof(Sample) == 2 ? 2 : 1;

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
  alignas(128) Sample samples[kSampleSlots<Sample>][kTileSamples];
  Barrier samples_full[kSampleSlots<Sample>];
  Barrier samples_empty[kSampleSlots<Sample>];
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

// `Value` is float, or std::uint16_t for both narrow dtypes: code for one of them only keeps the
// kernel within the instruction cache, which is worth a tenth of its speed.
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
