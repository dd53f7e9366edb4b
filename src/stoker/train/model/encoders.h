// From a reference and a text to what the decoder needs of them: a voice, a hidden vector, a mean
// mel and a duration for every token.
#pragma once

#include <optional>
#include <vector>

#include "stoker/train/model/layers.h"
#include "stoker/train/model/model_shape.h"
#include "stoker/train/model/packed/fused_ops.h"

namespace stoker::train {

struct Voice {
  at::Tensor latents;  // [B, L, text_width], put before the text
  at::Tensor vector;   // f32 [B, decoder_width]
};

// Two convolutions, then latents that look at their result (Jaegle et al., "Perceiver", 2021).
class ReferenceEncoder {
 public:
  ReferenceEncoder(ParameterSet& set, const ModelShape& shape);
  // [B, R, M] and i64 [B]
  Voice operator()(const at::Tensor& mel, const at::Tensor& lengths) const;
  // [N, M]; latents are [B * L, text_width].
  Voice operator()(const at::Tensor& mel, const PackedRows& rows) const;

 private:
  TimeConvolution first_;
  TimeConvolution second_;
  LayerNorm norm_;
  Parameter latents_;
  CrossAttention attention_;
  Linear pooled_;
};

class TextBlock {
 public:
  TextBlock(ParameterSet& set, const std::string& name, const ModelShape& shape);
  // Draws dropout at sites first_site and first_site + 1.
  at::Tensor operator()(const at::Tensor& values, const at::Tensor& bias,
                        const StepContext& context, std::uint32_t first_site) const;
  // Between the norm that comes before it, made already, and the one behind it.
  fused::SumAndNorm operator()(const fused::SumAndNorm& values, const LayerNorm& next,
                               const fused::Dropout& dropout, const PackedRows& rows) const;
  const LayerNorm& first_norm() const { return attention_norm_; }

 private:
  LayerNorm attention_norm_;
  SelfAttention attention_;
  LayerNorm feed_forward_norm_;
  FeedForward feed_forward_;
};

// Ids with the two edges put around every text.
struct EdgedText {
  at::Tensor ids;      // i64 [B, X + 2], 0 behind the length
  at::Tensor lengths;  // i64 [B]
  at::Tensor mask;     // bool [B, X + 2]
};
EdgedText with_edges(const at::Tensor& tokens, const at::Tensor& text_len, std::int64_t num_tokens);

// The same end to end, and where its rows are among those that have the voice's latents before
// them.
struct PackedText {
  at::Tensor ids;          // i64 [N]; -1 behind the last row
  PackedRows rows;         // of texts with their edges
  PackedRows with_voice;   // of latents and texts
  Rearrangement to_voice;  // [latents of all rows; texts] to rows that have both
  Rearrangement to_text;   // back, the texts alone
};
struct TextSize {
  std::int64_t num_tokens = 0;  // of the vocabulary
  std::int64_t num_latents = 0;
  std::int64_t longest = 0;  // no text has more tokens
};
PackedText with_edges(const at::Tensor& tokens, const at::Tensor& text_len, const TextSize& size);

class TextEncoder {
 public:
  TextEncoder(ParameterSet& set, const ModelShape& shape);
  // f32 [B, X + 2, text_width]
  at::Tensor operator()(const EdgedText& text, const at::Tensor& latents,
                        const StepContext& context) const;
  // [N, text_width]
  at::Tensor operator()(const PackedText& text, const at::Tensor& latents,
                        const StepContext& context) const;

 private:
  Parameter embedding_;
  TimeConvolution convolution_;
  std::vector<TextBlock> blocks_;
  LayerNorm norm_;
};

// Logarithms of frames a token; what it is given does not learn from it.
class DurationPredictor {
 public:
  DurationPredictor(ParameterSet& set, const ModelShape& shape);
  // f32 [B, X + 2]
  at::Tensor operator()(const at::Tensor& hidden, const at::Tensor& mask,
                        const StepContext& context) const;
  // f32 [N]
  at::Tensor operator()(const at::Tensor& hidden, const PackedRows& rows,
                        const StepContext& context) const;

 private:
  std::uint32_t first_site_;
  TimeConvolution first_;
  LayerNorm first_norm_;
  TimeConvolution second_;
  LayerNorm second_norm_;
  Parameter weight_;
  Parameter bias_;
};

}  // namespace stoker::train
