// Rows of the feed's slot become the inputs of a step: laid end to end, normalised, in memory whose
// place never changes, by one kernel.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/config/mel_dtype.h"
#include "stoker/cuda/stream.h"
#include "stoker/train/loop/device/step_ledger.h"
#include "stoker/train/loop/device/step_packing.h"

namespace stoker::train {

// What the GPU reads: its own memory, or page-locked memory of the host.
struct FillSource {
  const RowPlace* rows = nullptr;
  std::uint32_t num_rows = 0;
  const void* mel = nullptr;  // [frames, mels]
  config::MelDtype dtype = config::MelDtype::kF32;
  const std::int32_t* tokens = nullptr;
  const void* reference = nullptr;     // [rows, reference_stride, mels]; null: none comes along
  std::uint32_t reference_stride = 0;  // frames
  std::uint32_t num_frames = 0;        // of all rows
  std::uint32_t num_tokens = 0;
  std::uint32_t longest_frames = 0;
};

// Where it goes, in device memory.
struct FillTarget {
  float* mel = nullptr;              // [num_frames, num_mels]; zeros behind the last row
  std::int64_t* tokens = nullptr;    // [num_tokens]; likewise
  std::int64_t* text_len = nullptr;  // [num_rows]; 0 behind the batch's rows
  std::int64_t* mel_len = nullptr;
  float* reference = nullptr;  // [num_rows, reference_frames, num_mels]; null: none
  std::int64_t* reference_len = nullptr;
  StepLedger* ledger = nullptr;
  std::uint32_t num_rows = 0;
  std::uint32_t num_frames = 0;
  std::uint32_t num_tokens = 0;
  std::uint32_t reference_frames = 0;
  std::uint32_t num_mels = 0;
  float mean = 0;
  float deviation = 1;
  const float* warps = nullptr;  // [VoiceWarps::kNumWarps, num_mels]; null: nothing is stretched
};

// Also notes the step and begins its span of time. Asynchronous. Throws GpuError.
void fill_inputs(const FillSource& from, const FillTarget& to, std::uint64_t step,
                 cuda::StreamView stream);

// Whether a GPU holds this memory; false for the host's, page-locked or not.
bool is_device_memory(const void* memory);

}  // namespace stoker::train
