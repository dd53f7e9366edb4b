// What the kernels of Griffin-Lim are given: the tables of a recipe on a GPU, and the arrays of one
// call.
#pragma once

#include "stoker/audio/griffin_lim/griffin_lim_plan.h"
#include "stoker/audio/griffin_lim/lane_fft.cuh"
#include "stoker/audio/griffin_lim/mel_inverse.h"
#include "stoker/base/philox.h"
#include "stoker/cuda/device_buffer.h"

namespace stoker::audio {

// The bands that cover a bin, numbers and weights apart, as a warp reads them best. Neighbouring
// triangles meet in two bands; in a third a rounding may have left something.
inline constexpr int kMaxBinBands = 3;
struct alignas(8) BinBands {
  std::uint16_t at[kMaxBinBands];
};
struct alignas(16) BinWeights {
  float of[kMaxBinBands];  // 0 where there is no such band
  float share;             // 1 / (sum of the weights), 0 where no band covers the bin
};

// The bins that a band covers, one after the other.
struct alignas(8) BandBins {
  std::int32_t first;
  std::int32_t count;
};

// Tables and numbers of a recipe; pointers are of the device.
struct GriffinLimTables {
  DeviceFft fft;
  int num_bins;
  int num_mels;
  int hop_samples;
  int padding;
  bool reflects;
  // An utterance of F > 0 frames has F * hop_samples + extra_samples samples.
  int extra_samples;
  BinUpdate update;
  MelUndo undo;
  PhiloxKey phase_key;
  float out_scale;
  float emphasis;
  const float* window;
  const float* synthesis_window;
  const BinBands* bin_bands;      // [num_bins]
  const BinWeights* bin_weights;  // [num_bins]
  const BandBins* band_bins;      // [num_mels]
  const float* band_weights;      // [largest count][num_mels]: neighbouring bands side by side
  const float* band_share;
  const BinValue* circle;
  const double* divisors;  // null where the recipe has none
};

// Device memory is handed out in units of so many bytes.
inline constexpr std::size_t kDeviceAlignment = 256;
constexpr std::size_t device_aligned(std::size_t size_bytes) {
  return (size_bytes + kDeviceAlignment - 1) / kDeviceAlignment * kDeviceAlignment;
}

struct DeviceGriffinLimPlan {
  // Uploads the tables and waits for that. Throws GpuError.
  DeviceGriffinLimPlan(const config::MelRecipe& recipe, const GriffinLimOptions& options,
                       int on_device);

  GriffinLimPlan host;
  int device;
  cuda::DeviceBuffer memory;
  GriffinLimTables tables;  // pointers into `memory`
};

// One call: the batch and where its intermediate values are.
struct GriffinLimJob {
  const float* log_mel;
  const std::int32_t* num_frames;
  int padded_frames;
  int signal_samples;  // room for one utterance's padded signal
  float* samples;
  long long padded_samples;
  float* wanted;    // [utterances, padded_frames, num_mels]
  BinValue* seen;   // [utterances, padded_frames, num_bins]: momentum
  float* frames;    // [utterances, padded_frames, n_fft]: windowed, to be added up
  float* signal;    // [utterances, signal_samples]
  float* envelope;  // the same: what undoes the overlapping windows
};

__device__ inline float* signal_of_block(const GriffinLimJob& job) {
  return job.signal + static_cast<long long>(blockIdx.y) * job.signal_samples;
}
__device__ inline float* envelope_of_block(const GriffinLimJob& job) {
  return job.envelope + static_cast<long long>(blockIdx.y) * job.signal_samples;
}

// Utterances are the second dimension of every grid.
__device__ inline int frames_of(const GriffinLimJob& job) {
  const int wanted = job.num_frames[blockIdx.y];
  return wanted < 0 ? 0 : wanted < job.padded_frames ? wanted : job.padded_frames;
}

__device__ inline int samples_of(const GriffinLimTables& tables, int num_frames) {
  if (num_frames == 0) return 0;
  return num_frames * tables.hop_samples + tables.extra_samples;
}

}  // namespace stoker::audio
