// Tensors as the kernels of row_kernels.h see them, and what a Function keeps for its gradient.
#pragma once

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cstdint>
#include <utility>

#include "stoker/base/invariant.h"
#include "stoker/train/model/packed/fused_ops.h"
#include "stoker/train/model/packed/row_kernels.h"

namespace stoker::train {

using AutogradContext = torch::autograd::AutogradContext;
using Tensors = torch::autograd::variable_list;

inline device::ValueType value_type(at::ScalarType type) {
  if (type == at::kBFloat16) return device::ValueType::kBf16;
  if (type == at::kHalf) return device::ValueType::kF16;
  check_invariant(type == at::kFloat, "values are f32, bf16 or f16");
  return device::ValueType::kF32;
}

// Itself where four values at once can be read of each place, else a copy.
inline at::Tensor readable(const at::Tensor& values) {
  const bool is_dense = values.size(-1) <= 1 || values.stride(-1) == 1;
  const auto together = static_cast<std::uintptr_t>(4 * values.element_size());
  const bool is_aligned =
      reinterpret_cast<std::uintptr_t>(values.const_data_ptr()) % together == 0 &&
      (values.dim() < 2 || values.stride(0) % 4 == 0);
  if (is_dense && is_aligned && (values.dim() < 2 || values.stride(0) != 0)) return values;
  return values.clone(at::MemoryFormat::Contiguous);
}

// Dense, and 16 bytes of it can be read at once.
inline at::Tensor dense(const at::Tensor& values) {
  const at::Tensor all = values.contiguous();
  return reinterpret_cast<std::uintptr_t>(all.const_data_ptr()) % 16 == 0 ? all : all.clone();
}

// Of [N, C] whose last axis is dense.
inline device::ConstValues view_of(const at::Tensor& values) {
  return {values.const_data_ptr(), value_type(values.scalar_type()), values.stride(0)};
}
inline device::Values mutable_view_of(const at::Tensor& values) {
  return {values.mutable_data_ptr(), value_type(values.scalar_type()), values.stride(0)};
}

inline device::OfRows of_rows(const at::Tensor& values) {
  return {values.const_data_ptr<float>(), values.dim() == 2 ? values.stride(0) : 0};
}

inline device::Rows view_of(const PackedRows& rows) {
  return {rows.begins.const_data_ptr<std::int32_t>(), rows.row_of.const_data_ptr<std::int32_t>(),
          rows.num_rows(), rows.num_places()};
}

inline device::Drops drops_of(const fused::Dropout& dropout) {
  if (dropout.rate <= 0) return {};
  return {late_draws({dropout.key, kDropoutDraws, dropout.site}), static_cast<float>(dropout.rate),
          static_cast<float>(1 / (1 - dropout.rate))};
}

inline at::Tensor empty_floats(at::IntArrayRef sizes, const at::Tensor& like) {
  return at::empty(sizes, like.options().dtype(at::kFloat));
}

// What gradients of a parameter are added to.
inline float* gradient_of(const Parameter& parameter) {
  at::Tensor& gradient = parameter.leaf.mutable_grad();
  if (!gradient.defined()) gradient = at::zeros_like(parameter.leaf);
  check_invariant(gradient.is_contiguous() && gradient.scalar_type() == at::kFloat,
                  "gradients of parameters are dense and f32");
  return gradient.data_ptr<float>();
}

// What a Function's gradient needs beside saved tensors; lives as long as the graph.
template <class T>
struct Held final : torch::CustomClassHolder {
  explicit Held(T of) : value(std::move(of)) {}
  T value;
};
template <class T>
void hold(AutogradContext* context, T value) {
  context->saved_data["held"] =
      c10::IValue::make_capsule(c10::make_intrusive<Held<T>>(std::move(value)));
}
template <class T>
T held(AutogradContext* context) {
  return static_cast<const Held<T>&>(*context->saved_data.at("held").toCapsule()).value;
}

}  // namespace stoker::train
