// The kernels of DeviceLogMel, as the host sees them: an entry, its block and its memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/audio/mel/cuda/kernel_task.h"
#include "stoker/audio/mel/log_mel.h"
#include "stoker/audio/mel/mel_filterbank.h"
#include "stoker/cuda/device_api.h"

namespace stoker::audio::device {

// Filters that kernels were compiled for (banks_generated.h); kTable: read from memory.
enum class MelBank : std::uint8_t { kTable, kSlaney8000, kSlaney11025, kHtk11025, kHtk12000 };

// The compiled filters that are these, bit for bit.
MelBank matching_bank(const MelBands& bands);
// Whether the bin at half the rate counts; the 1024-point kernels do not compute it.
bool needs_last_bin(const MelBands& bands);

struct MelKernel {
  const void* function = nullptr;  // takes one DeviceMelTask
  int num_threads = 0;
  int blocks_per_multiprocessor = 1;
  int tile_frames = 0;  // that a block makes at a time
  std::size_t shared_bytes = 0;
  bool waits_by_itself = false;  // for the stream's previous kernel: may begin before that ends
  PartRule parts{};              // how the bands are shared among warps
};

struct MelKernelChoice {
  MelBank bank = MelBank::kTable;
  SampleType in = SampleType::kPcm16;
  config::MelDtype out = config::MelDtype::kF32;
  int num_mels = 0;
  bool is_f64 = false;  // the transforms; the compiled Htk filters are always so
};

inline constexpr int kPortableSharedBytes = 96 * 1024;

bool has_hopper_kernels();  // whether this build has them
MelKernel hopper_kernel(const MelKernelChoice& choice);
MelKernel portable_kernel(const MelKernelChoice& choice);
MelKernel general_kernel(const MelKernelChoice& choice, const GeneralMelTask& general);

// The second pass of recipes that look at a whole utterance (whisper, myxtts_tf) or rescale at the
// end; mel_finish.h has the same steps for the CPU. Plain data, passed to the kernel by value.
struct MelFinishTask {
  const float* values;    // [utterances, padded_frames, num_mels] of floor-and-log values
  const int* ranges;      // [utterances, 2] as in DeviceMelTask, or null
  const float* divisors;  // [num_mels] or null
  void* mel;              // may be `values` when `out` is f32
  config::MelDtype out;
  config::MelRange range;
  float below_max;
  float offset;
  float scale;
};

// Asynchronous; throw GpuError.
void launch_clear_ranges(int* ranges, int num_utterances, cuda::StreamHandle stream);
void launch_finish(const MelFinishTask& finish, const DeviceMelTask& task,
                   cuda::StreamHandle stream);

}  // namespace stoker::audio::device
