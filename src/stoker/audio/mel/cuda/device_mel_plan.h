// What DeviceLogMel prepares once: which kernel, its constants and its tables on the device.
#pragma once

#include "stoker/audio/mel/cuda/device_log_mel.h"
#include "stoker/audio/mel/cuda/device_mel_finish.h"
#include "stoker/audio/mel/cuda/device_mel_kernels.h"
#include "stoker/audio/mel/cuda/device_mel_task.h"
#include "stoker/audio/mel/mel_filterbank.h"
#include "stoker/audio/mel/mel_frame_grid.h"
#include "stoker/cuda/device_buffer.h"

namespace stoker::audio {

struct DeviceMelPlan {
  DeviceMelPlan(const config::MelRecipe& mel_recipe, const DeviceLogMel::Options& mel_options);

  config::MelRecipe recipe;
  DeviceLogMel::Options options;
  FrameGrid grid;
  MelBands bands;
  // Without area norm a band 120 dB below its frame's largest still lies above the floor, and all
  // of f32's rounding shows in its logarithm; the CPU computes these recipes in f64 too.
  bool is_f64;
  MelVariant variant = MelVariant::kGeneral;
  bool finishes_whole = false;  // a step after the log needs the whole utterance in f32 first
  device::MelKernel kernel{};
  int num_multiprocessors = 0;
  DeviceMelTask task{};            // all but the batch
  device::MelFinishTask finish{};  // likewise; for finishes_whole
  cuda::DeviceBuffer tables;
};

}  // namespace stoker::audio
