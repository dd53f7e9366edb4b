// The products and attentions of fused_ops.h on a GPU. Gradients of parameters are added to their
// fp32 buffers directly; autograd carries those of values alone.
#pragma once

#include "stoker/train/model/packed/fused_ops.h"

namespace stoker::train::kernel {

at::Tensor linear(const at::Tensor& values, const Parameter& weight, const Parameter& bias,
                  fused::Result result);
at::Tensor linear_gelu(const at::Tensor& values, const Parameter& weight, const Parameter& bias);

at::Tensor feed_forward(const at::Tensor& values, const Linear& up, const Linear& down);

// Of bf16 and fp16; other types are computed by the plain twins.
at::Tensor attention(const at::Tensor& query_key_value, std::int64_t num_heads,
                     const PackedRows& rows);
at::Tensor cross_attention(const at::Tensor& queries, const at::Tensor& key_value,
                           std::int64_t num_heads, const PackedRows& rows);

}  // namespace stoker::train::kernel
