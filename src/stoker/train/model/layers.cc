#include "stoker/train/model/layers.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <cmath>
#include <utility>

namespace stoker::train {
namespace {

constexpr std::string_view kInitialDraws = "train-init";
constexpr double kRotaryBase = 10'000;
constexpr double kMasked = -1e4;

void fill(DrawKind kind, const DrawStream& stream, const DrawTarget& target) {
  kind == DrawKind::kUniform ? fill_uniform(stream, target) : fill_normal(stream, target);
}

// [B, T, H * d] -> [B, H, T, d], without a copy
at::Tensor heads_of(const at::Tensor& values, std::int64_t num_heads) {
  return values.unflatten(2, {num_heads, -1}).transpose(1, 2);
}

at::Tensor attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                  const at::Tensor& bias) {
  const at::ScalarType type = value.scalar_type();
  return at::scaled_dot_product_attention(query.to(type), key.to(type), value, bias.to(type))
      .transpose(1, 2)
      .flatten(2);
}

}  // namespace

cuda::StreamView current_stream(at::Device device) {
  const c10::impl::VirtualGuardImpl guard(device.type());
  return cuda::StreamView(static_cast<cuda::StreamHandle>(guard.getStream(device).native_handle()));
}

Parameter ParameterSet::normal(const std::string& name, at::IntArrayRef sizes, double deviation) {
  at::Tensor tensor = at::empty(sizes, at::kFloat);
  const DrawStream stream{
      {seed_, 0}, kInitialDraws, static_cast<std::uint32_t>(parameters_.size())};
  fill_normal(stream, {tensor.data_ptr<float>(), 1, static_cast<std::size_t>(tensor.numel())});
  return add(name, tensor.mul_(deviation));
}

Parameter ParameterSet::constant(const std::string& name, at::IntArrayRef sizes, double value) {
  return add(name, at::full(sizes, value, at::kFloat));
}

Parameter ParameterSet::add(const std::string& name, at::Tensor tensor) {
  tensor.requires_grad_(true);
  auto shadow = std::make_shared<at::Tensor>();
  parameters_.push_back({name, tensor, shadow});
  return {std::move(tensor), std::move(shadow)};
}

at::Tensor draw(DrawKind kind, const DrawStream& stream, at::IntArrayRef sizes, at::Device device) {
  at::Tensor values = at::empty(sizes, at::TensorOptions(device).dtype(at::kFloat));
  const auto rows = static_cast<std::size_t>(sizes[0]);
  if (values.numel() == 0) return values;
  const DrawTarget all{values.data_ptr<float>(), rows,
                       static_cast<std::size_t>(values.numel()) / rows};
  if (!device.is_cpu()) {
    const cuda::StreamView on = current_stream(device);
    kind == DrawKind::kUniform ? fill_uniform(stream, all, on) : fill_normal(stream, all, on);
    return values;
  }
  at::parallel_for(0, sizes[0], 1, [&](std::int64_t begin, std::int64_t end) {
    const auto first = static_cast<std::size_t>(begin);
    fill(kind, stream,
         {all.values + first * all.row_values, static_cast<std::size_t>(end - begin),
          all.row_values, first});
  });
  return values;
}

at::Tensor drop(const at::Tensor& values, const StepContext& context, std::uint32_t site) {
  if (context.dropout <= 0) return values;
  at::Tensor kept =
      draw(DrawKind::kUniform, {context.key, kDropoutDraws, site}, values.sizes(), values.device());
  kept.ge_(context.dropout).mul_(1 / (1 - context.dropout));
  return values * kept.to(values.scalar_type());
}

Linear::Linear(ParameterSet& set, const std::string& name, Size size, Start start)
    : weight_(start == Start::kZero ? set.constant(name + ".weight", {size.out, size.in}, 0)
                                    : set.normal(name + ".weight", {size.out, size.in},
                                                 1 / std::sqrt(3 * static_cast<double>(size.in)))),
      bias_(set.constant(name + ".bias", {size.out}, 0)) {}

at::Tensor Linear::operator()(const at::Tensor& values) const {
  return at::linear(values, weight_.leaf, bias_.leaf);
}

LayerNorm::LayerNorm(ParameterSet& set, const std::string& name, std::int64_t width)
    : weight_(set.constant(name + ".weight", {width}, 1)),
      bias_(set.constant(name + ".bias", {width}, 0)) {}

at::Tensor LayerNorm::operator()(const at::Tensor& values) const {
  return at::layer_norm(values, weight_.sizes(), weight_.leaf, bias_.leaf);
}

TimeConvolution::TimeConvolution(ParameterSet& set, const std::string& name, const Size& size)
    : size_(size),
      weight_(set.normal(name + ".weight", {size.out, size.in, size.kernel},
                         1 / std::sqrt(3 * static_cast<double>(size.in * size.kernel)))),
      bias_(set.constant(name + ".bias", {size.out}, 0)) {}

at::Tensor TimeConvolution::operator()(const at::Tensor& values) const {
  return at::conv1d(values.transpose(1, 2), weight_.leaf, bias_.leaf, size_.stride,
                    size_.kernel / 2)
      .transpose(1, 2);
}

FeedForward::FeedForward(ParameterSet& set, const std::string& name, std::int64_t width)
    : up_(set, name + ".up", {width, 4 * width}), down_(set, name + ".down", {4 * width, width}) {}

at::Tensor FeedForward::operator()(const at::Tensor& values) const {
  return down_(gelu_of(up_(values)));
}

at::Tensor gelu_of(const at::Tensor& values) { return at::gelu(values, "tanh"); }

at::Tensor at_least_one(const at::Tensor& values) {
  return values.size(1) > 0 ? values : at::constant_pad_nd(values, {0, 0, 0, 1});
}

at::Tensor length_mask(const at::Tensor& lengths, std::int64_t length) {
  return at::arange(length, lengths.options()).unsqueeze(0).lt(lengths.unsqueeze(1));
}

at::Tensor key_bias(const at::Tensor& mask) {
  return mask.logical_not().to(at::kFloat).mul_(kMasked).unsqueeze(1).unsqueeze(1);
}

at::Tensor zero_behind(const at::Tensor& values, const at::Tensor& mask) {
  return values.masked_fill(mask.logical_not().unsqueeze(-1), 0);
}

at::Tensor repeat_tokens(const at::Tensor& values, const at::Tensor& token_of_frame) {
  const at::Tensor first =
      at::arange(values.size(0), token_of_frame.options()).mul_(values.size(1)).unsqueeze(1);
  // An embedding's gradient is summed in a fixed order on every device; a gather's is not.
  return at::embedding(values.flatten(0, 1), token_of_frame + first);
}

at::Tensor RotaryTable::angles(std::int64_t length, at::Device device) const {
  if (!table_.defined() || table_.size(0) < length || table_.device() != device) {
    // In double precision, so that all devices turn by the same angles.
    const auto in_double = at::device(device).dtype(at::kDouble);
    const std::int64_t num_pairs = head_width_ / 2;
    const at::Tensor rate = at::arange(num_pairs, in_double)
                                .mul_(-std::log(kRotaryBase) / static_cast<double>(num_pairs))
                                .exp_();
    const std::int64_t longest = std::max<std::int64_t>(length + length / 2, 256);
    const at::Tensor angle = at::arange(longest, in_double).unsqueeze(1) * rate;
    table_ = at::complex(angle.cos(), angle.sin())
                 .to(at::kComplexFloat)
                 .view({longest, 1, 1, num_pairs});
  }
  return table_.narrow(0, 0, length);
}

at::Tensor RotaryTable::turn(const at::Tensor& values) const {
  const at::Tensor pairs = at::view_as_complex(values.to(at::kFloat).unflatten(4, {-1, 2}));
  return at::view_as_real(pairs * angles(values.size(1), values.device())).flatten(4);
}

SelfAttention::SelfAttention(ParameterSet& set, const std::string& name, std::int64_t width,
                             std::int64_t num_heads)
    : num_heads_(num_heads),
      query_key_value_(set, name + ".query_key_value", {width, 3 * width}),
      out_(set, name + ".out", {width, width}),
      positions_(width / num_heads) {}

at::Tensor SelfAttention::operator()(const at::Tensor& values, const at::Tensor& bias) const {
  const auto parts =
      query_key_value_(values).unflatten(2, {3, num_heads_, -1}).split_with_sizes({2, 1}, 2);
  const auto turned = positions_.turn(parts[0]).unbind(2);
  return out_(attend(turned[0].transpose(1, 2), turned[1].transpose(1, 2),
                     parts[1].squeeze(2).transpose(1, 2), bias));
}

CrossAttention::CrossAttention(ParameterSet& set, const std::string& name, std::int64_t width,
                               std::int64_t num_heads)
    : num_heads_(num_heads),
      query_(set, name + ".query", {width, width}),
      key_value_(set, name + ".key_value", {width, 2 * width}),
      out_(set, name + ".out", {width, width}) {}

at::Tensor CrossAttention::operator()(const at::Tensor& queries, const at::Tensor& values,
                                      const at::Tensor& bias) const {
  const auto key_value = key_value_(values).chunk(2, 2);
  return out_(attend(heads_of(query_(queries), num_heads_), heads_of(key_value[0], num_heads_),
                     heads_of(key_value[1], num_heads_), bias));
}

}  // namespace stoker::train
