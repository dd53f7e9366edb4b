// What DeviceLogMel prepares once: which kernel, its constants, and its tables in the order in
// which the lanes read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stoker/audio/mel/cuda/kernel_task.h"
#include "stoker/audio/mel/cuda/kernels.h"
#include "stoker/audio/mel/log_mel.h"
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
  // Without area norm a band 120 dB below its frame's largest is still above the floor, and all
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

// Tables of Real: float or double, as the kernel computes.

// The recipe's window times `sample_scale` and its waveform scale.
template <class Real>
std::vector<Real> window_table(const config::MelRecipe& recipe, double sample_scale);

// The 1024-point kernels' tables give each of 32 lanes 16 pairs of numbers, in units of 16 bytes:
// [8][32 lanes] of two pairs of floats, or [16][32 lanes] of one pair of doubles.

// Pair i of a lane: w[n], w[n+512] with n = lane + 32*i; zeros after a shorter window.
template <class Real>
std::vector<Real> lane_window_table(const config::MelRecipe& recipe, double sample_scale);

// Their second stage's twiddles. Lane l works on row k1 = l, or l-16 above 16; its pair at
// length/4 + m (0 for length 2) is exp(-2*pi*i * (k1/(32*length) + m/length)).
template <class Real>
std::vector<Real> lane_twiddle_table();

// exp(-2*pi*i*k/n), k = 0 ... n-1, as pairs.
template <class Real>
std::vector<Real> root_table(std::int64_t n);

// First bins of the num_mels + 1 segments and their end, none beyond `end_bin`.
std::vector<std::int32_t> segment_firsts(const MelBands& bands, std::size_t end_bin);

}  // namespace stoker::audio
