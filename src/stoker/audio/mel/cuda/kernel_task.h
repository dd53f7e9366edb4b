// What one launch of a log-mel kernel is told: the batch, the tables and the numbers of the recipe.
#pragma once

#include <cstdint>

#include "stoker/audio/mel/cuda/part_split.h"
#include "stoker/config/mel_dtype.h"

namespace stoker::audio {

// One Stockham stage, as FftStage of fft_factors.h.
struct GeneralStage {
  std::int32_t radix;
  std::int32_t length;
  std::int32_t stride;
  const void* twiddles;  // floats, or doubles for recipes computed in them
  const void* roots;     // likewise
};

inline constexpr int kMostStages = 12;  // 3^8 < 8192 / 2 takes eight, 4096 six

// What only the general kernel needs.
struct GeneralMelTask {
  std::int32_t n_fft;
  std::int32_t win_samples;
  std::int32_t removes_dc;
  double preemphasis;
  std::int32_t tile_frames;
  std::int32_t row_values;  // of one frame
  std::int32_t num_stages;  // 0: by the definition
  GeneralStage stages[kMostStages];
  const void* roots;  // exp(-2*pi*i*k/n_fft)
};

// Plain data, passed to kernels by value.
struct DeviceMelTask {
  // The batch, as in DeviceMelBatch.
  const void* samples;
  const std::int64_t* begins;
  const std::int32_t* lengths;
  std::int32_t num_utterances;
  std::int32_t padded_frames;
  void* mel;
  int* ranges;  // [utterances, 2]: ordered bits of the smallest and the largest value, or null

  // Tables on the device.
  const void* window;    // floats or doubles; layout: see the kernel that reads it
  const void* twiddles;  // likewise
  const float* weights;  // per bin: falling, rising
  const std::int32_t* segments;
  std::int32_t first_bin;
  std::int32_t end_bin;
  std::int32_t
      parts[device::kMostMelParts + 1];  // bands parts[w] ... parts[w+1]-1 belong to warp w

  // Framing: utterance of n samples has (n + frame_slack) / hop + 1 - drop_last frames.
  std::int32_t hop_samples;
  std::int32_t frame_slack;
  std::int32_t drop_last;
  std::int32_t first_start;
  std::int32_t fit_samples;  // every utterance is cut or zero-padded to this; 0: left alone
  std::int32_t reflects;     // 0: zeros beyond the ends

  // From power to value.
  std::int32_t num_mels;
  std::int32_t power;
  float epsilon;    // under the root
  float floor_add;  // value = max(x + floor_add, floor_clamp)
  float floor_clamp;
  float log_factor;  // times log2; 0: no logarithm
  float padding;
  config::MelDtype dtype;

  GeneralMelTask general;
};

}  // namespace stoker::audio
