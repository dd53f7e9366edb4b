// The plain twins of fused_ops.h, in operators of libtorch alone: what a CPU computes with, and
// what the kernels are tested against. Parameters' gradients arrive through their leaves.
#pragma once

#include "stoker/train/model/packed/fused_ops.h"

namespace stoker::train::plain {

at::Tensor linear(const at::Tensor& values, const Parameter& weight, const Parameter& bias,
                  fused::Result result = fused::Result::kCompute);
at::Tensor linear_gelu(const at::Tensor& values, const Parameter& weight, const Parameter& bias);
at::Tensor embed(const at::Tensor& indices, const Parameter& table, fused::Result result);
at::Tensor norm_modulate(const at::Tensor& residual, const fused::Modulation& by,
                         const PackedRows& rows);
fused::SumAndNorm add_norm_modulate(const at::Tensor& residual, const at::Tensor& branch,
                                    const at::Tensor& gate, const fused::Modulation& by,
                                    const PackedRows& rows);
at::Tensor layer_norm(const at::Tensor& values, const Parameter& weight, const Parameter& bias,
                      const PackedRows& rows);
fused::SumAndNorm add_dropped_norm(const at::Tensor& residual, const at::Tensor& branch,
                                   const fused::Dropout& dropout, const Parameter& weight,
                                   const Parameter& bias, const PackedRows& rows);
at::Tensor drop(const at::Tensor& values, const fused::Dropout& dropout, const PackedRows& rows);
at::Tensor attention(const at::Tensor& query_key_value, std::int64_t num_heads,
                     const PackedRows& rows);
at::Tensor cross_attention(const at::Tensor& queries, const at::Tensor& key_value,
                           std::int64_t num_heads, const PackedRows& rows);
at::Tensor unfold(const at::Tensor& values, const fused::Unfolding& unfolding,
                  const PackedRows& from, const PackedRows& to);
at::Tensor repeat(const at::Tensor& values, const fused::Repeat& repeat);
fused::FlowPoint flow_point(const at::Tensor& mel, const at::Tensor& time, const StepKey& key,
                            const PackedRows& rows, at::ScalarType compute);
at::Tensor squared_error(const at::Tensor& prediction, const at::Tensor& target,
                         const at::Tensor& weight);

}  // namespace stoker::train::plain
