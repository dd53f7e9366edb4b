#include "stoker/train/loop/flat_update.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cstring>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "stoker/train/errors.h"

namespace stoker::train {
namespace {

constexpr std::int64_t kAlignment = 64;  // values: every view may be read in whole vectors

constexpr std::pair<at::ScalarType, TensorType> kStoredTypes[] = {
    {at::kFloat, TensorType::kF32},     {at::kHalf, TensorType::kF16},
    {at::kBFloat16, TensorType::kBf16}, {at::kDouble, TensorType::kF64},
    {at::kInt, TensorType::kI32},       {at::kLong, TensorType::kI64},
    {at::kByte, TensorType::kU8},
};

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (const std::int64_t axis : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(axis);
  return text + "]";
}

[[noreturn]] void refuse_shape(const std::string& name, std::string promised, std::string found) {
  raise({.code = &kCheckpointShape,
         .promised = name + " " + std::move(promised),
         .found = std::move(found)});
}

std::string described(const StoredTensor& stored) {
  return std::string(name_of(stored.type)) + " " + shape_text(stored.shape);
}

using FusedUpdate = void (*)(at::TensorList, at::TensorList, at::TensorList, at::TensorList,
                             at::TensorList, at::TensorList, const at::Tensor&, double, double,
                             double, double, bool, bool, const std::optional<at::Tensor>&,
                             const std::optional<at::Tensor>&);

}  // namespace

StoredTensor store_tensor(const std::string& name, const at::Tensor& tensor) {
  const at::Tensor host = tensor.detach().to(at::kCPU).contiguous();
  StoredTensor stored{.name = name, .shape = host.sizes().vec(), .values = {}};
  for (const auto& [scalar, type] : kStoredTypes) {
    if (scalar == host.scalar_type()) stored.type = type;
  }
  stored.values.resize(host.nbytes());
  if (!stored.values.empty()) std::memcpy(stored.values.data(), host.data_ptr(), host.nbytes());
  return stored;
}

at::Tensor read_tensor(const StoredTensor& stored, const at::Tensor& like) {
  const StoredTensor wanted =
      store_tensor(stored.name, at::empty(like.sizes(), like.scalar_type()));
  if (wanted.type != stored.type || wanted.shape != stored.shape ||
      wanted.values.size() != stored.values.size()) {
    refuse_shape(stored.name, "as " + described(wanted), described(stored));
  }
  at::Tensor tensor = at::empty(like.sizes(), at::device(at::kCPU).dtype(like.scalar_type()));
  if (!stored.values.empty()) {
    std::memcpy(tensor.data_ptr(), stored.values.data(), stored.values.size());
  }
  return tensor;
}

FlatUpdate::FlatUpdate(const std::vector<NamedTensor>& parameters, const UpdateRule& rule,
                       at::Device device, std::optional<at::ScalarType> shadow)
    : rule_(rule) {
  const at::NoGradGuard no_grad;
  std::int64_t end = 0;
  for (const NamedTensor& parameter : parameters) {
    const std::int64_t num_values = parameter.tensor.numel();
    parts_.push_back({parameter.name, parameter.tensor.sizes().vec(), end, num_values});
    model_.push_back(parameter.tensor);
    num_parameters_ += static_cast<std::uint64_t>(num_values);
    end += (num_values + kAlignment - 1) / kAlignment * kAlignment;
  }
  const at::TensorOptions on_device = at::device(device).dtype(at::kFloat);
  parameters_ = at::zeros({end}, on_device);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    view_of(parameters_, parts_[i]).copy_(model_[i]);
  }
  gradients_ = at::zeros_like(parameters_);
  moments1_ = at::zeros_like(parameters_);
  moments2_ = at::zeros_like(parameters_);
  average_ = parameters_.clone();
  num_updates_ = at::zeros({}, on_device);
  point_at(parameters_);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    model_[i].mutable_grad() = view_of(gradients_, parts_[i]);
  }
  if (!shadow) return;
  shadow_ = parameters_.to(*shadow);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    *parameters[i].shadow = view_of(shadow_, parts_[i]);
  }
}

FlatBuffers FlatUpdate::buffers() const {
  const bool is_half = shadow_.defined() && shadow_.scalar_type() == at::kHalf;
  return {.parameters = parameters_.data_ptr<float>(),
          .gradients = gradients_.data_ptr<float>(),
          .moments1 = moments1_.data_ptr<float>(),
          .moments2 = moments2_.data_ptr<float>(),
          .average = average_.data_ptr<float>(),
          .shadow = shadow_.defined() ? shadow_.data_ptr() : nullptr,
          .shadow_type = !shadow_.defined() ? ShadowType::kNone
                         : is_half          ? ShadowType::kF16
                                            : ShadowType::kBf16,
          .num_values = static_cast<std::size_t>(parameters_.numel()),
          .num_updates = num_updates_.data_ptr<float>()};
}

at::Tensor FlatUpdate::view_of(const at::Tensor& flat, const Part& part) {
  return flat.narrow(0, part.begin, part.num_values).view(part.shape);
}

void FlatUpdate::point_at(const at::Tensor& flat) const {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < parts_.size(); ++i) model_[i].set_data(view_of(flat, parts_[i]));
}

void FlatUpdate::zero_gradients() { gradients_.zero_(); }

FlatUpdate::Outcome FlatUpdate::apply(const Accumulated& accumulated, double learning_rate) {
  const at::NoGradGuard no_grad;
  const at::Tensor is_empty = accumulated.weight == 0;
  const at::Tensor weight =
      at::where(is_empty, at::ones_like(accumulated.weight), accumulated.weight);
  const at::Tensor norm = at::linalg_vector_norm(gradients_).div_(weight);
  const at::Tensor is_skipped =
      at::isfinite(norm).logical_and_(at::isfinite(accumulated.loss)).logical_not_();
  const at::Tensor is_held = at::logical_or(is_skipped, is_empty).to(at::kFloat);
  const at::Tensor divisor =
      rule_.clip_norm > 0 ? weight * at::clamp_min(norm / rule_.clip_norm, 1.0) : weight;
  call_fused(at::full({}, learning_rate, parameters_.options()), divisor, is_held);
  move_average(is_held);
  if (shadow_.defined()) shadow_.copy_(parameters_);
  gradients_.zero_();
  return {norm, is_skipped.to(at::kFloat)};
}

void FlatUpdate::call_fused(const at::Tensor& learning_rate, const at::Tensor& divisor,
                            const at::Tensor& is_held) {
  const FusedUpdate fused = rule_.is_decoupled ? static_cast<FusedUpdate>(at::_fused_adamw_)
                                               : static_cast<FusedUpdate>(at::_fused_adam_);
  // The kernel corrects by the number it is given and leaves everything alone where it is held.
  num_updates_.add_(1);
  fused(parameters_, gradients_, moments1_, moments2_, {}, num_updates_, learning_rate, rule_.beta1,
        rule_.beta2, rule_.weight_decay, rule_.epsilon, /*amsgrad=*/false, /*maximize=*/false,
        divisor, is_held);
  num_updates_.sub_(is_held);
}

void FlatUpdate::move_average(const at::Tensor& is_held) {
  // A constant decay would keep the first weights for thousands of updates.
  const at::Tensor decay = at::clamp_max((num_updates_ + 1) / (num_updates_ + 10), rule_.ema_decay);
  average_.lerp_(parameters_, (1 - decay) * (1 - is_held));
}

void FlatUpdate::append_parts(const at::Tensor& flat, const std::string& prefix,
                              TensorSet& out) const {
  const at::Tensor host = flat.to(at::kCPU);
  for (const Part& part : parts_) {
    out.tensors.push_back(store_tensor(prefix + part.name, view_of(host, part)));
  }
}

TensorSet FlatUpdate::copy_parameters() const {
  TensorSet set;
  append_parts(parameters_, "", set);
  return set;
}

TensorSet FlatUpdate::copy_average() const {
  TensorSet set;
  append_parts(average_, "", set);
  return set;
}

TensorSet FlatUpdate::copy_optimizer() const {
  TensorSet set;
  append_parts(moments1_, "m.", set);
  append_parts(moments2_, "v.", set);
  set.tensors.push_back(store_tensor("step", num_updates_));
  return set;
}

at::Tensor FlatUpdate::read_parts(const TensorSet& set, const std::string& prefix) const {
  at::Tensor host = at::zeros(parameters_.sizes(), at::kFloat);
  for (const Part& part : parts_) {
    const StoredTensor* const stored = set.find(prefix + part.name);
    const at::Tensor view = view_of(host, part);
    if (stored == nullptr) refuse_shape(prefix + part.name, "among the tensors", "none");
    view.copy_(read_tensor(*stored, view));
  }
  return host;
}

void FlatUpdate::check_names(const TensorSet& set) const {
  std::set<std::string_view> known;
  for (const Part& part : parts_) known.insert(part.name);
  for (const StoredTensor& tensor : set.tensors) {
    if (!known.contains(tensor.name)) {
      refuse_shape("only tensors", "of the model", tensor.name + ", which it does not have");
    }
  }
}

void FlatUpdate::restore(const LearnerState& state) {
  const at::NoGradGuard no_grad;
  check_names(state.model);
  check_names(state.ema);
  const bool has_average = !state.ema.tensors.empty();
  const bool has_optimizer = !state.optimizer.tensors.empty();
  const at::Tensor parameters = read_parts(state.model, "");
  const at::Tensor average = has_average ? read_parts(state.ema, "") : parameters;
  at::Tensor moments1 = at::zeros_like(parameters);
  at::Tensor moments2 = at::zeros_like(parameters);
  at::Tensor num_updates = at::zeros({}, at::kFloat);
  if (has_optimizer) {
    moments1 = read_parts(state.optimizer, "m.");
    moments2 = read_parts(state.optimizer, "v.");
    const StoredTensor* const step = state.optimizer.find("step");
    if (step == nullptr) refuse_shape("step", "among the tensors", "none");
    num_updates = read_tensor(*step, num_updates_);
  }
  parameters_.copy_(parameters);
  average_.copy_(average);
  moments1_.copy_(moments1);
  moments2_.copy_(moments2);
  num_updates_.copy_(num_updates);
  if (shadow_.defined()) shadow_.copy_(parameters_);
  gradients_.zero_();
}

}  // namespace stoker::train
