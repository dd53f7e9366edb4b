// What the warps of the Hopper kernel share: barriers and bulk copies as functions, the numbers of
// the warps, and the block's memory.
#pragma once

#include <cstdint>

#include "stoker/audio/mel/cuda/fft1024.cuh"
#include "stoker/audio/mel/cuda/tile.cuh"

namespace stoker::audio::device {

__device__ __forceinline__ std::uint32_t shared_address(const void* memory) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
}

// A barrier of `count` arrivals; its phases alternate between 0 and 1.
class Barrier {
 public:
  __device__ __forceinline__ void init(int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(this)), "r"(count));
  }
  __device__ __forceinline__ void arrive() {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(this)) : "memory");
  }
  // Lets the phase wait for `num_bytes` of bulk copies too.
  __device__ __forceinline__ void expect(std::uint32_t num_bytes) {
    asm volatile(
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(shared_address(this)),
        "r"(num_bytes)
        : "memory");
  }
  // Returns once the phase of that parity is complete. A wait of four seconds is a bug: it ends the
  // kernel instead of hanging the GPU.
  __device__ __forceinline__ void wait(int parity) {
    if (is_complete(parity)) return;
    const std::uint32_t begin_ns = now_ns();
    while (!is_complete(parity)) {
      if (now_ns() - begin_ns > kLongestWaitNs) __trap();
    }
  }

 private:
  static constexpr std::uint32_t kLongestWaitNs = 4'000'000'000;

  __device__ __forceinline__ static std::uint32_t now_ns() {
    std::uint32_t ns;
    asm volatile("mov.u32 %0, %%globaltimer_lo;" : "=r"(ns));
    return ns;
  }

  __device__ __forceinline__ bool is_complete(int parity) {
    int complete;
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n"
        "selp.s32 %0, 1, 0, done;\n"
        "}\n"
        : "=r"(complete)
        : "r"(shared_address(this)), "r"(parity)
        : "memory");
    return complete != 0;
  }

  std::uint64_t state_;
};

// Makes barriers initialised by this thread known to the copy engine.
__device__ __forceinline__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Orders this thread's ordinary writes to shared memory before later bulk copies into it.
__device__ __forceinline__ void publish_to_copies() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Moves registers between groups of four warps (sm_90a).
template <int kCount>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount));
}
template <int kCount>
__device__ __forceinline__ void leave_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount));
}

// The next kernel of the stream may take this block's place as soon as it ends, if it was launched
// so, and waits for all blocks and what they wrote by itself.
__device__ __forceinline__ void let_next_kernel_begin() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
__device__ __forceinline__ void wait_for_previous_kernel() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

// Fetches what is there into the second cache. That may be done before it is written: the cache
// holds what is written later, too.
__device__ __forceinline__ void bring_near(const void* memory) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(memory));
}

// Both addresses and the size are multiples of 16 bytes.
__device__ __forceinline__ void copy_in(void* to, const void* from, std::uint32_t num_bytes,
                                        Barrier& arrival) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(to)),
      "l"(from), "r"(num_bytes), "r"(shared_address(&arrival))
      : "memory");
}

}  // namespace stoker::audio::device

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
