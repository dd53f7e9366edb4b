#include "stoker/train/model/packed/plain_ops.h"

#include <ATen/ATen.h>

#include "stoker/train/model/losses.h"

namespace stoker::train::plain {
namespace {

using fused::Dropout;
using fused::FlowPoint;
using fused::Modulation;
using fused::Repeat;
using fused::Result;
using fused::SumAndNorm;
using fused::Unfolding;

// Zeros behind the last row; what was there does not matter, not even to a gradient.
at::Tensor within(const at::Tensor& values, const PackedRows& rows) {
  return values.masked_fill(is_within(rows).logical_not().unsqueeze(1), 0);
}

at::Tensor norm_of(const at::Tensor& values) {
  return at::layer_norm(values.to(at::kFloat), {values.size(1)});
}

at::Tensor flat_weight(const Parameter& weight) { return weight.leaf.flatten(1); }

// [N, C] as [B, heads, longest, width]
at::Tensor padded_heads(const at::Tensor& values, std::int64_t num_heads, const PackedRows& rows) {
  return pad_rows(values, rows).unflatten(2, {num_heads, -1}).transpose(1, 2);
}

at::Tensor bias_of(const PackedRows& rows) {
  return key_bias(length_mask(at::diff(rows.begins.to(at::kLong)), rows.longest));
}

}  // namespace

at::Tensor linear(const at::Tensor& values, const Parameter& weight, const Parameter& bias,
                  Result) {
  return at::linear(values.to(at::kFloat), flat_weight(weight), bias.leaf);
}

at::Tensor linear_gelu(const at::Tensor& values, const Parameter& weight, const Parameter& bias) {
  return gelu_of(linear(values, weight, bias));
}

at::Tensor embed(const at::Tensor& indices, const Parameter& table, Result) {
  return at::embedding(table.leaf, indices.clamp_min(0)).masked_fill(indices.lt(0).unsqueeze(1), 0);
}

at::Tensor norm_modulate(const at::Tensor& residual, const Modulation& by, const PackedRows& rows) {
  const at::Tensor normed = norm_of(within(residual, rows));
  return within(at::addcmul(of_rows(by.shift, rows), normed, of_rows(by.factor, rows)), rows);
}

SumAndNorm add_norm_modulate(const at::Tensor& residual, const at::Tensor& branch,
                             const at::Tensor& gate, const Modulation& by, const PackedRows& rows) {
  const at::Tensor sum =
      at::addcmul(within(residual, rows), within(branch.to(at::kFloat), rows), of_rows(gate, rows));
  return {sum, plain::norm_modulate(sum, by, rows)};
}

at::Tensor layer_norm(const at::Tensor& values, const Parameter& weight, const Parameter& bias,
                      const PackedRows& rows) {
  return within(at::addcmul(bias.leaf, norm_of(within(values, rows)), weight.leaf), rows);
}

SumAndNorm add_dropped_norm(const at::Tensor& residual, const at::Tensor& branch,
                            const Dropout& dropout, const Parameter& weight, const Parameter& bias,
                            const PackedRows& rows) {
  const at::Tensor sum = within(residual, rows) + plain::drop(branch.to(at::kFloat), dropout, rows);
  return {sum, layer_norm(sum, weight, bias, rows)};
}

at::Tensor drop(const at::Tensor& values, const Dropout& dropout, const PackedRows& rows) {
  at::Tensor inside = within(values, rows);
  if (dropout.rate <= 0) return inside;
  at::Tensor kept =
      join_rows(draw(DrawKind::kUniform, {dropout.key, kDropoutDraws, dropout.site},
                     {rows.num_rows(), rows.longest, values.size(1)}, values.device()),
                rows);
  kept.ge_(dropout.rate).mul_(1 / (1 - dropout.rate));
  return inside * kept;
}

at::Tensor attention(const at::Tensor& query_key_value, std::int64_t num_heads,
                     const PackedRows& rows) {
  const at::Tensor parts =
      pad_rows(query_key_value.to(at::kFloat), rows).unflatten(2, {3, num_heads, -1});
  const auto turned = RotaryTable(parts.size(4)).turn(parts.narrow(2, 0, 2)).unbind(2);
  const at::Tensor values = parts.select(2, 2);
  const at::Tensor out = at::scaled_dot_product_attention(
      turned[0].transpose(1, 2), turned[1].transpose(1, 2), values.transpose(1, 2), bias_of(rows));
  return join_rows(out.transpose(1, 2).flatten(2), rows);
}

at::Tensor cross_attention(const at::Tensor& queries, const at::Tensor& key_value,
                           std::int64_t num_heads, const PackedRows& rows) {
  const std::int64_t num_rows = rows.num_rows();
  const auto parts = key_value.to(at::kFloat).chunk(2, 1);
  const at::Tensor query = queries.to(at::kFloat)
                               .unflatten(0, {num_rows, -1})
                               .unflatten(2, {num_heads, -1})
                               .transpose(1, 2);
  const at::Tensor out =
      at::scaled_dot_product_attention(query, padded_heads(parts[0], num_heads, rows),
                                       padded_heads(parts[1], num_heads, rows), bias_of(rows));
  const at::Tensor is_empty = at::diff(rows.begins).eq(0).view({-1, 1, 1});
  return out.transpose(1, 2).flatten(2).masked_fill(is_empty, 0).flatten(0, 1);
}

at::Tensor unfold(const at::Tensor& values, const Unfolding& unfolding, const PackedRows& from,
                  const PackedRows& to) {
  const at::Tensor row = to.row_of.to(at::kLong).clamp_max(to.num_rows() - 1);
  const at::Tensor begins = from.begins.to(at::kLong);
  const at::Tensor begin = begins.index_select(0, row).unsqueeze(1);
  const at::Tensor end = begins.index_select(0, row + 1).unsqueeze(1);
  const at::Tensor offset = at::arange(unfolding.kernel, begins.options()) - unfolding.kernel / 2;
  const at::Tensor place = begin + place_in_row(to).unsqueeze(1) * unfolding.stride + offset;
  const at::Tensor is_there =
      place.ge(begin).logical_and_(place.lt(end)).logical_and_(is_within(to).unsqueeze(1));
  const at::Tensor last = at::scalar_tensor(values.size(0) - 1, place.options());
  return within(values, from)
      .index_select(0, at::minimum(place.clamp_min(0), last).flatten())
      .unflatten(0, {to.num_places(), unfolding.kernel})
      .masked_fill(is_there.logical_not().unsqueeze(2), 0)
      .transpose(1, 2)
      .flatten(1);
}

at::Tensor repeat(const at::Tensor& values, const Repeat& repeat) {
  return values.index_select(0, repeat.of.clamp_min(0))
      .masked_fill(repeat.of.lt(0).unsqueeze(1), 0);
}

FlowPoint flow_point(const at::Tensor& mel, const at::Tensor& time, const StepKey& key,
                     const PackedRows& rows, at::ScalarType compute) {
  const at::Tensor noise =
      join_rows(draw(DrawKind::kNormal, {key, kNoiseDraws},
                     {rows.num_rows(), rows.longest, mel.size(1)}, mel.device()),
                rows);
  const at::Tensor places = of_rows(time.unsqueeze(1), rows);
  const FlowTarget target = flow_target(within(mel, rows), noise, places);
  return {within(target.noisy, rows).to(compute), target.velocity};
}

at::Tensor squared_error(const at::Tensor& prediction, const at::Tensor& target,
                         const at::Tensor& weight) {
  const at::Tensor weights = weight.unsqueeze(1);
  const at::Tensor counted =
      at::sub(prediction.to(at::kFloat), target).masked_fill(weights.eq(0), 0);
  return (counted.square() * weights).sum();
}

}  // namespace stoker::train::plain
