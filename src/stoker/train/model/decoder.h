// The flow's velocity: blocks of attention and feed-forward whose norms are scaled, shifted and
// gated by time and voice (Peebles and Xie, "Scalable diffusion models with transformers", 2023).
#pragma once

#include <vector>

#include "stoker/train/model/layers.h"
#include "stoker/train/model/model_shape.h"

namespace stoker::train {

class DecoderBlock {
 public:
  static constexpr std::int64_t kNumChanges = 6;

  DecoderBlock(ParameterSet& set, const std::string& name, const ModelShape& shape);
  // `changes` are six of [B, 1, decoder_width]: factor, shift and gate of either half.
  at::Tensor operator()(const at::Tensor& values, at::TensorList changes,
                        const at::Tensor& bias) const;

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

 private:
  std::vector<at::Tensor> changes_of(const at::Tensor& time, const at::Tensor& voice) const;

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
