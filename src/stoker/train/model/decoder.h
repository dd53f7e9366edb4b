// The flow's velocity: blocks of attention and feed-forward whose norms are scaled, shifted and
// gated by time and voice (Peebles and Xie, "Scalable diffusion models with transformers", 2023).
#pragma once

#include <vector>

#include "stoker/train/model/layers.h"
#include "stoker/train/model/model_shape.h"
#include "stoker/train/model/packed/fused_ops.h"

namespace stoker::train {

class DecoderBlock {
 public:
  static constexpr std::int64_t kNumChanges = 6;

  DecoderBlock(ParameterSet& set, const std::string& name, const ModelShape& shape);
  // `changes` are six of [B, 1, decoder_width]: factor, shift and gate of either half.
  at::Tensor operator()(const at::Tensor& values, at::TensorList changes,
                        const at::Tensor& bias) const;
  // `changes` are six of [B, decoder_width], then the factor and shift behind the block; `values`
  // have been normed with the first two.
  fused::SumAndNorm operator()(const fused::SumAndNorm& values, at::TensorList changes,
                               const PackedRows& rows) const;

 private:
  SelfAttention attention_;
  FeedForward feed_forward_;
};

class Decoder {
 public:
  Decoder(ParameterSet& set, const ModelShape& shape);

  struct Tokens {
    at::Tensor mean;            // f32 [B, N, M]
    at::Tensor hidden;          // [B, N, text_width]
    at::Tensor token_of_frame;  // i64 [B, Y]
    at::Tensor frame_mask;      // bool [B, Y]
  };
  // What the tokens of its frames give a place, [B, P, decoder_width]: the part of the product with
  // [noisy; mean] that is the mean's, and the hidden vector's. Both are made once a token.
  at::Tensor condition(const Tokens& tokens) const;

  struct Input {
    at::Tensor noisy;       // f32 [B, Y, M]
    at::Tensor condition;   // [B, P, decoder_width]
    at::Tensor time;        // f32 [B], 0 … 1
    at::Tensor voice;       // f32 [B, decoder_width]
    at::Tensor frame_mask;  // bool [B, Y]
  };
  // f32 [B, Y, M]
  at::Tensor velocity(const Input& input) const;

  struct PackedInput {
    at::Tensor noisy;           // [N, M], compute type
    at::Tensor mean;            // f32 [T, M]
    at::Tensor hidden;          // [T, text_width]
    at::Tensor token_of_frame;  // i64 [N], ascending; T behind the last row
    at::Tensor time;            // f32 [B]
    at::Tensor voice;           // f32 [B, decoder_width]
    PackedRows rows;            // of frames
  };
  // [N, M], compute type
  at::Tensor packed_velocity(const PackedInput& input) const;

 private:
  // Of every block factor, shift, gate, factor, shift, gate, and of the last norm factor and shift.
  std::vector<at::Tensor> changes_of(const at::Tensor& time, const at::Tensor& voice) const;
  std::vector<at::Tensor> packed_changes(const at::Tensor& time, const at::Tensor& voice) const;
  at::Tensor time_phases(const at::Tensor& time) const;
  static at::Tensor around_one(const at::Tensor& changes);  // [B, changes, …]: the factors
  at::Tensor packed_condition(const PackedInput& input, const at::Tensor& frames) const;

  std::int64_t width_;
  std::int64_t num_frames_;  // of a place
  Linear noisy_;
  Linear mean_;
  Linear hidden_;
  Linear time_first_;
  Linear time_second_;
  Linear changes_;
  std::vector<DecoderBlock> blocks_;
  Linear out_;
};

}  // namespace stoker::train
