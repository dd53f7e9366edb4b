// What encoders and decoder are built from: named parameters, masks, positions, attention, dropout
// by keyed draws. Products follow autocast; what is summed up along the way stays fp32.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/train/model/step_draws.h"
#include "stoker/train/model/tts_model.h"

namespace stoker::train {

struct PackedRows;

// A parameter: the leaf that checkpoints hold, fp32, and what products read in its place.
struct Parameter {
  at::Tensor leaf;
  std::shared_ptr<at::Tensor> shadow;  // not defined: the leaf itself

  const at::Tensor& value() const { return shadow->defined() ? *shadow : leaf; }
  at::IntArrayRef sizes() const { return leaf.sizes(); }
};

// Makes parameters, fp32 on the CPU, each drawn from a stream of its own, in the order asked for.
class ParameterSet {
 public:
  explicit ParameterSet(std::uint64_t seed) : seed_(seed) {}

  Parameter normal(const std::string& name, at::IntArrayRef sizes, double deviation);
  Parameter constant(const std::string& name, at::IntArrayRef sizes, double value);
  const std::vector<NamedTensor>& all() const { return parameters_; }

 private:
  Parameter add(const std::string& name, at::Tensor tensor);

  std::uint64_t seed_;
  std::vector<NamedTensor> parameters_;
};

// All of one call of the model: which draws, and how much is dropped (0 in evaluation).
struct StepContext {
  StepKey key;
  double dropout = 0;
};

// Of a GPU, the one that torch uses now.
cuda::StreamView current_stream(at::Device device);

// [rows, …] of draws on a device.
enum class DrawKind { kUniform, kNormal };
at::Tensor draw(DrawKind kind, const DrawStream& stream, at::IntArrayRef sizes, at::Device device);

at::Tensor drop(const at::Tensor& values, const StepContext& context, std::uint32_t site);

enum class Start { kDrawn, kZero };

class Linear {
 public:
  struct Size {
    std::int64_t in;
    std::int64_t out;
  };
  Linear(ParameterSet& set, const std::string& name, Size size, Start start = Start::kDrawn);
  at::Tensor operator()(const at::Tensor& values) const;

  const Parameter& weight() const { return weight_; }
  const Parameter& bias() const { return bias_; }

 private:
  Parameter weight_;
  Parameter bias_;
};

class LayerNorm {
 public:
  LayerNorm(ParameterSet& set, const std::string& name, std::int64_t width);
  at::Tensor operator()(const at::Tensor& values) const;

  const Parameter& weight() const { return weight_; }
  const Parameter& bias() const { return bias_; }

 private:
  Parameter weight_;
  Parameter bias_;
};

// Along time, [B, T, C] in and out; the kernel is odd and its edges see zeros.
class TimeConvolution {
 public:
  struct Size {
    std::int64_t in;
    std::int64_t out;
    std::int64_t kernel;
    std::int64_t stride = 1;
  };
  TimeConvolution(ParameterSet& set, const std::string& name, const Size& size);
  at::Tensor operator()(const at::Tensor& values) const;

  const Size& size() const { return size_; }
  const Parameter& weight() const { return weight_; }
  const Parameter& bias() const { return bias_; }

 private:
  Size size_;
  Parameter weight_;
  Parameter bias_;
};

// Two layers, four times as wide between.
class FeedForward {
 public:
  FeedForward(ParameterSet& set, const std::string& name, std::int64_t width);
  at::Tensor operator()(const at::Tensor& values) const;
  at::Tensor packed(const at::Tensor& values) const;  // [N, C]

 private:
  Linear up_;
  Linear down_;
};

at::Tensor gelu_of(const at::Tensor& values);

// [B, T, C] with at least one place, so that no layer meets an empty sequence.
at::Tensor at_least_one(const at::Tensor& values);
// bool [B, length]: which places are before the end.
at::Tensor length_mask(const at::Tensor& lengths, std::int64_t length);
// f32 [B, 1, 1, T] to add to attention's scores: large, finite, so that a row without any key stays
// a number.
at::Tensor key_bias(const at::Tensor& mask);
// What is behind the end becomes 0, whatever it was.
at::Tensor zero_behind(const at::Tensor& values, const at::Tensor& mask);

// Rows of a tensor [B, N, C] repeated for frames: [B, Y, C].
at::Tensor repeat_tokens(const at::Tensor& values, const at::Tensor& token_of_frame);

// Turns pairs of channels by angles that grow with the place (Su et al., "RoFormer", 2021).
class RotaryTable {
 public:
  explicit RotaryTable(std::int64_t head_width) : head_width_(head_width) {}
  // [B, T, N, H, head_width], f32 out.
  at::Tensor turn(const at::Tensor& values) const;

 private:
  at::Tensor angles(std::int64_t length, at::Device device) const;

  std::int64_t head_width_;
  mutable at::Tensor table_;  // complex [T, 1, 1, head_width / 2], longest so far
};

// A sequence looks at itself.
class SelfAttention {
 public:
  SelfAttention(ParameterSet& set, const std::string& name, std::int64_t width,
                std::int64_t num_heads);
  at::Tensor operator()(const at::Tensor& values, const at::Tensor& bias) const;
  at::Tensor operator()(const at::Tensor& values, const PackedRows& rows) const;  // [N, C]

 private:
  std::int64_t num_heads_;
  Linear query_key_value_;
  Linear out_;
  RotaryTable positions_;
};

// Latents look at a sequence; no positions.
class CrossAttention {
 public:
  CrossAttention(ParameterSet& set, const std::string& name, std::int64_t width,
                 std::int64_t num_heads);
  at::Tensor operator()(const at::Tensor& queries, const at::Tensor& values,
                        const at::Tensor& bias) const;
  // [B * L, C] and [N, C]; the same latents [L, C] ask in each row.
  at::Tensor operator()(const at::Tensor& latents, const at::Tensor& values,
                        const PackedRows& rows) const;

 private:
  std::int64_t num_heads_;
  Linear query_;
  Linear key_value_;
  Linear out_;
};

}  // namespace stoker::train
