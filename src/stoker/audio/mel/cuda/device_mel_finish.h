// The second pass of recipes that look at a whole utterance (whisper, myxtts_tf) or rescale at the
// end, on the GPU; mel_finish.h has the same steps for the CPU.
#pragma once

#include "stoker/audio/mel/cuda/device_mel_task.h"
#include "stoker/config/mel_recipe.h"
#include "stoker/cuda/device_api.h"

namespace stoker::audio::device {

// Plain data, passed to the kernel by value.
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
