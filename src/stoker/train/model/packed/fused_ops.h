// What the packed model is made of. Each function runs a few kernels of ours on a GPU, forward and
// backward, and its plain twin (plain_ops.h) on a CPU; both are differentiable and give the same
// within rounding. On a GPU gradients of parameters are added to their fp32 buffers directly.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "stoker/train/model/layers.h"
#include "stoker/train/model/packed/packed_rows.h"
#include "stoker/train/model/step_draws.h"

namespace stoker::train {

// Sums run in fp32, values between products have the type of the parameters' shadows (bf16 or
// fp16; fp32 without shadows). Residuals are fp32.
namespace fused {

enum class Result { kCompute, kFloat };

// Values [N, in] times the weight [out, …] seen as [out, in], plus bias: [N, out].
at::Tensor linear(const at::Tensor& values, const Parameter& weight, const Parameter& bias,
                  Result result = Result::kCompute);
inline at::Tensor linear(const at::Tensor& values, const Linear& by,
                         Result result = Result::kCompute) {
  return linear(values, by.weight(), by.bias(), result);
}
// The same, then GELU (tanh).
at::Tensor linear_gelu(const at::Tensor& values, const Parameter& weight, const Parameter& bias);

// The second layer of the first's GELU.
at::Tensor feed_forward(const at::Tensor& values, const Linear& up, const Linear& down);

// Rows of a table [ids, C] by i64 [N]; an index of -1 gives zeros.
at::Tensor embed(const at::Tensor& indices, const Parameter& table, Result result);

// f32 [B, C] each; may be views whose last axis is dense.
struct Modulation {
  at::Tensor factor;
  at::Tensor shift;
};
// norm(x) * factor + shift over the last axis of a residual f32 [N, C], each row with its own.
// `compute` is the type of what a GPU gives.
at::Tensor norm_modulate(const at::Tensor& residual, const Modulation& by, const PackedRows& rows,
                         at::ScalarType compute);
struct SumAndNorm {
  at::Tensor sum;   // f32 [N, C], the next residual
  at::Tensor norm;  // [N, C]
};
// sum = residual + branch * gate; norm = norm_modulate(sum). `gate` f32 [B, C] as a Modulation's.
SumAndNorm add_norm_modulate(const at::Tensor& residual, const at::Tensor& branch,
                             const at::Tensor& gate, const Modulation& by, const PackedRows& rows);

// LayerNorm with learned factor and shift, the same for all rows. Zeros behind the last row.
at::Tensor layer_norm(const at::Tensor& values, const Parameter& weight, const Parameter& bias,
                      const PackedRows& rows);
// Value c of place i of row r is kept by draw (r, i * C + c) of the site, as in drop().
struct Dropout {
  StepKey key;
  std::uint32_t site = 0;
  double rate = 0;
};
// sum = residual + drop(branch); norm = layer_norm(sum).
SumAndNorm add_dropped_norm(const at::Tensor& residual, const at::Tensor& branch,
                            const Dropout& dropout, const Parameter& weight, const Parameter& bias,
                            const PackedRows& rows);
at::Tensor drop(const at::Tensor& values, const Dropout& dropout, const PackedRows& rows);

// Self-attention within each row, with rotary positions as RotaryTable turns them: [N, 3 * C]
// (queries, keys, values, each [heads, width]) to [N, C]. Zeros behind the last row.
at::Tensor attention(const at::Tensor& query_key_value, std::int64_t num_heads,
                     const PackedRows& rows);
// [B * Q, C] queries of which each row has Q look at their row's [N, 2 * C] keys and values. A row
// without values gives zeros.
at::Tensor cross_attention(const at::Tensor& queries, const at::Tensor& key_value,
                           std::int64_t num_heads, const PackedRows& rows);

// For a convolution along time as a product: [N, C] to [N', C * kernel], column c * kernel + j of
// place i is value c of place i * stride + j - kernel / 2 of the same row, or 0. `to` has rows of
// ceil(length / stride).
struct Unfolding {
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
};
at::Tensor unfold(const at::Tensor& values, const Unfolding& unfolding, const PackedRows& from,
                  const PackedRows& to);

// values[of[i]], [T, C] to [N, C]; zeros where of[i] is -1. The places of each value are a range:
// `begins` i32 [T + 1] says which, so that its gradient is a sum over that range in a fixed order.
struct Repeat {
  at::Tensor of;      // i32 [N]
  at::Tensor begins;  // i32 [T + 1]
};
at::Tensor repeat(const at::Tensor& values, const Repeat& repeat);

// Place and velocity of the straight way from noise to speech, as flow_target(); noise is drawn
// for (row, place * M + m) as draw_step() does. Without gradient.
struct FlowPoint {
  at::Tensor noisy;     // [N, M], compute type
  at::Tensor velocity;  // f32 [N, M]
};
FlowPoint flow_point(const at::Tensor& mel, const at::Tensor& time, const StepKey& key,
                     const PackedRows& rows, at::ScalarType compute);

// Sum of weight[i] * (prediction[i, c] - target[i, c])^2: f32 scalar. Gradient of the prediction
// alone. What is predicted where the weight is 0 has no effect, whatever it is.
at::Tensor squared_error(const at::Tensor& prediction, const at::Tensor& target,
                         const at::Tensor& weight);

}  // namespace fused

}  // namespace stoker::train
