// Which frames are the prompt, which token each frame belongs to, and the three losses; none of it
// waits for the device.
#pragma once

#include "stoker/train/model/alignment_search.h"
#include "stoker/train/model/layers.h"

namespace stoker::train {

// The numbers that a step draws.
struct StepDraws {
  at::Tensor time;   // f32 [B]
  at::Tensor noise;  // f32 [B, Y, M]
  at::Tensor crop;   // f32 [B], 0 … 1
};
StepDraws draw_step(const StepKey& key, const at::Tensor& mel);

struct Prompt {
  at::Tensor mel;      // f32 [B, R, M]
  at::Tensor lengths;  // i64 [B]
  at::Tensor is_loss;  // bool [B, Y]: true frames outside the prompt
};
// At most `most_frames` and half of the utterance, beginning where `crop` says.
Prompt crop_prompt(const at::Tensor& mel, const at::Tensor& mel_len, const at::Tensor& crop,
                   std::int64_t most_frames);

// What frames are aligned by, f32 [B, Y, M]: of every band the harmonic mean of three frames'
// magnitudes, to a small power. Where two tokens meet, the louder one reaches into its neighbour's
// frames; this mean is near the quieter of two levels that differ much, and between two that do
// not.
at::Tensor alignment_target(const at::Tensor& mel, const at::Tensor& frame_mask);

struct AlignInput {
  at::Tensor states;     // f32 [B, N, kStatesPerToken, M]
  at::Tensor target;     // f32 [B, Y, M]
  at::Tensor token_len;  // i64 [B]; 0: not aligned
  at::Tensor mel_len;    // i64 [B]
  DiagonalPull pull;
};
// Rows of which a token has few frames are aligned with the mean of its states.
struct Alignment {
  at::Tensor token_of_frame;  // i64 [B, Y]
  at::Tensor state_of_frame;  // i64 [B, Y], in 0 … N * kStatesPerToken - 1; of such rows the first
  at::Tensor is_single;       // bool [B]
};
// Without gradient.
Alignment align(const AlignInput& input);

// The state of each frame, f32 [B, Y, M].
at::Tensor aligned_states(const at::Tensor& states, const Alignment& alignment);

// Frames a token has, f32 [B, N].
at::Tensor count_frames(const at::Tensor& token_of_frame, const at::Tensor& frame_mask,
                        std::int64_t num_tokens);

// Mean of the squared error of log durations over tokens in the mask.
at::Tensor duration_loss(const at::Tensor& log_duration, const at::Tensor& num_frames,
                         const at::Tensor& mask);

// Mean of squares over frames in the mask and over bands.
at::Tensor masked_square(const at::Tensor& difference, const at::Tensor& mask);

inline constexpr double kLeastNoise = 1e-4;  // that is left at time 1

// Place and velocity of a straight way from noise to speech (Lipman et al., "Flow matching", 2023).
struct FlowTarget {
  at::Tensor noisy;
  at::Tensor velocity;
};
// `time` has as many axes as the mel.
FlowTarget flow_target(const at::Tensor& mel, const at::Tensor& noise, const at::Tensor& time);

}  // namespace stoker::train
