#include "stoker/train/model/packed/fused_ops.h"

#include "stoker/train/model/packed/fused_functions.h"
#include "stoker/train/model/packed/fused_products.h"
#include "stoker/train/model/packed/plain_ops.h"

namespace stoker::train::fused {

at::Tensor linear(const at::Tensor& values, const Parameter& weight, const Parameter& bias,
                  Result result) {
  return weight.leaf.is_cuda() ? kernel::linear(values, weight, bias, result)
                               : plain::linear(values, weight, bias, result);
}
at::Tensor linear_gelu(const at::Tensor& values, const Parameter& weight, const Parameter& bias) {
  return weight.leaf.is_cuda() ? kernel::linear_gelu(values, weight, bias)
                               : plain::linear_gelu(values, weight, bias);
}
at::Tensor feed_forward(const at::Tensor& values, const Linear& up, const Linear& down) {
  if (up.weight().leaf.is_cuda()) return kernel::feed_forward(values, up, down);
  return plain::linear(plain::linear_gelu(values, up.weight(), up.bias()), down.weight(),
                       down.bias());
}
at::Tensor embed(const at::Tensor& indices, const Parameter& table, Result result) {
  if (indices.is_cuda()) return kernel::embed(indices, table, result);
  return plain::embed(indices, table, result);
}
at::Tensor norm_modulate(const at::Tensor& residual, const Modulation& by, const PackedRows& rows,
                         at::ScalarType compute) {
  if (residual.is_cuda()) return kernel::norm_modulate(residual, by, rows, compute);
  return plain::norm_modulate(residual, by, rows);
}
SumAndNorm add_norm_modulate(const at::Tensor& residual, const at::Tensor& branch,
                             const at::Tensor& gate, const Modulation& by, const PackedRows& rows) {
  if (residual.is_cuda()) return kernel::add_norm_modulate(residual, branch, gate, by, rows);
  return plain::add_norm_modulate(residual, branch, gate, by, rows);
}
at::Tensor layer_norm(const at::Tensor& values, const Parameter& weight, const Parameter& bias,
                      const PackedRows& rows) {
  if (values.is_cuda()) return kernel::layer_norm(values, weight, bias, rows);
  return plain::layer_norm(values, weight, bias, rows);
}
SumAndNorm add_dropped_norm(const at::Tensor& residual, const at::Tensor& branch,
                            const Dropout& dropout, const Parameter& weight, const Parameter& bias,
                            const PackedRows& rows) {
  if (residual.is_cuda())
    return kernel::add_dropped_norm(residual, branch, dropout, weight, bias, rows);
  return plain::add_dropped_norm(residual, branch, dropout, weight, bias, rows);
}
at::Tensor drop(const at::Tensor& values, const Dropout& dropout, const PackedRows& rows) {
  if (values.is_cuda()) return kernel::drop(values, dropout, rows);
  return plain::drop(values, dropout, rows);
}
at::Tensor attention(const at::Tensor& query_key_value, std::int64_t num_heads,
                     const PackedRows& rows) {
  return query_key_value.is_cuda() ? kernel::attention(query_key_value, num_heads, rows)
                                   : plain::attention(query_key_value, num_heads, rows);
}
at::Tensor cross_attention(const at::Tensor& queries, const at::Tensor& key_value,
                           std::int64_t num_heads, const PackedRows& rows) {
  return queries.is_cuda() ? kernel::cross_attention(queries, key_value, num_heads, rows)
                           : plain::cross_attention(queries, key_value, num_heads, rows);
}
at::Tensor unfold(const at::Tensor& values, const Unfolding& unfolding, const PackedRows& from,
                  const PackedRows& to) {
  if (values.is_cuda()) return kernel::unfold(values, unfolding, from, to);
  return plain::unfold(values, unfolding, from, to);
}
at::Tensor repeat(const at::Tensor& values, const Repeat& by) {
  if (values.is_cuda()) return kernel::repeat(values, by);
  return plain::repeat(values, by);
}
FlowPoint flow_point(const at::Tensor& mel, const at::Tensor& time, const StepKey& key,
                     const PackedRows& rows, at::ScalarType compute) {
  if (mel.is_cuda()) return kernel::flow_point(mel, time, key, rows, compute);
  return plain::flow_point(mel, time, key, rows, compute);
}
at::Tensor squared_error(const at::Tensor& prediction, const at::Tensor& target,
                         const at::Tensor& weight) {
  if (prediction.is_cuda()) return kernel::squared_error(prediction, target, weight);
  return plain::squared_error(prediction, target, weight);
}

}  // namespace stoker::train::fused
