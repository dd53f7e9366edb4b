#include "stoker/train/model/encoders.h"

#include <ATen/ATen.h>

#include <cmath>

namespace stoker::train {
namespace {

constexpr std::int64_t kReferenceKernel = 5;
constexpr std::int64_t kTextKernel = 5;
constexpr std::int64_t kDurationKernel = 3;
constexpr double kLatentDeviation = 0.02;
constexpr double kFirstLogDuration = 2;  // about seven frames

}  // namespace

ReferenceEncoder::ReferenceEncoder(ParameterSet& set, const ModelShape& shape)
    : first_(set, "reference.first", {shape.num_mels, shape.text_width, kReferenceKernel}),
      second_(set, "reference.second", {shape.text_width, shape.text_width, kReferenceKernel, 2}),
      norm_(set, "reference.norm", shape.text_width),
      latents_(
          set.normal("reference.latents", {shape.num_latents, shape.text_width}, kLatentDeviation)),
      attention_(set, "reference.attention", shape.text_width, shape.text_heads),
      pooled_(set, "reference.pooled", {shape.text_width, shape.decoder_width}) {}

Voice ReferenceEncoder::operator()(const at::Tensor& given, const at::Tensor& lengths) const {
  const at::Tensor mel = at_least_one(given);
  const at::Tensor mask = length_mask(lengths, mel.size(1));
  const at::Tensor near = gelu_of(first_(zero_behind(mel, mask)));
  const at::Tensor wide = norm_(gelu_of(second_(zero_behind(near, mask))));
  const at::Tensor bias = key_bias(length_mask((lengths + 1).floor_divide(2), wide.size(1)));
  const at::Tensor queries = latents_.leaf.unsqueeze(0).expand({mel.size(0), -1, -1});
  const at::Tensor latents = queries + attention_(queries, wide, bias);
  return {latents, pooled_(latents.mean(1)).to(at::kFloat)};
}

TextBlock::TextBlock(ParameterSet& set, const std::string& name, const ModelShape& shape)
    : attention_norm_(set, name + ".attention_norm", shape.text_width),
      attention_(set, name + ".attention", shape.text_width, shape.text_heads),
      feed_forward_norm_(set, name + ".feed_forward_norm", shape.text_width),
      feed_forward_(set, name + ".feed_forward", shape.text_width) {}

at::Tensor TextBlock::operator()(const at::Tensor& values, const at::Tensor& bias,
                                 const StepContext& context, std::uint32_t first_site) const {
  const at::Tensor middle =
      values + drop(attention_(attention_norm_(values), bias), context, first_site);
  return middle + drop(feed_forward_(feed_forward_norm_(middle)), context, first_site + 1);
}

EdgedText with_edges(const at::Tensor& tokens, const at::Tensor& text_len,
                     std::int64_t num_tokens) {
  const std::int64_t num_rows = tokens.size(0);
  const at::Tensor before = at::full({num_rows, 1}, num_tokens, tokens.options());
  const at::Tensor room = at::zeros({num_rows, 1}, tokens.options());
  const at::Tensor places = at::arange(tokens.size(1) + 2, tokens.options()).unsqueeze(0);
  const at::Tensor last = text_len.unsqueeze(1) + 1;
  EdgedText text;
  text.lengths = text_len + 2;
  text.mask = places.le(last);
  text.ids = at::cat({before, tokens, room}, 1)
                 .masked_fill_(text.mask.logical_not(), 0)
                 .masked_fill_(places.eq(last), num_tokens + 1);
  return text;
}

TextEncoder::TextEncoder(ParameterSet& set, const ModelShape& shape)
    : embedding_(set.normal("text.embedding", {shape.num_tokens + 2, shape.text_width}, 1)),
      convolution_(set, "text.convolution", {shape.text_width, shape.text_width, kTextKernel}),
      blocks_([&] {
        std::vector<TextBlock> blocks;
        for (std::int64_t i = 0; i < shape.text_layers; ++i)
          blocks.emplace_back(set, "text." + std::to_string(i), shape);
        return blocks;
      }()),
      norm_(set, "text.norm", shape.text_width) {}

at::Tensor TextEncoder::operator()(const EdgedText& text, const at::Tensor& latents,
                                   const StepContext& context) const {
  const at::Tensor embedded = zero_behind(at::embedding(embedding_.leaf, text.ids), text.mask);
  const at::Tensor tokens = embedded + gelu_of(convolution_(embedded));
  const std::int64_t num_latents = latents.size(1);
  const at::Tensor bias =
      key_bias(at::constant_pad_nd(text.mask.to(at::kByte), {num_latents, 0}, 1).to(at::kBool));
  at::Tensor values = at::cat({latents.to(at::kFloat), tokens.to(at::kFloat)}, 1);
  std::uint32_t site = 0;
  for (const TextBlock& block : blocks_) {
    values = block(values, bias, context, site);
    site += 2;
  }
  return norm_(values.narrow(1, num_latents, text.ids.size(1))).to(at::kFloat);
}

DurationPredictor::DurationPredictor(ParameterSet& set, const ModelShape& shape)
    : first_site_(static_cast<std::uint32_t>(2 * shape.text_layers)),
      first_(set, "duration.first", {shape.text_width, shape.text_width, kDurationKernel}),
      first_norm_(set, "duration.first_norm", shape.text_width),
      second_(set, "duration.second", {shape.text_width, shape.text_width, kDurationKernel}),
      second_norm_(set, "duration.second_norm", shape.text_width),
      weight_(set.normal("duration.out.weight", {1, shape.text_width},
                         1 / std::sqrt(3 * static_cast<double>(shape.text_width)))),
      bias_(set.constant("duration.out.bias", {1}, kFirstLogDuration)) {}

at::Tensor DurationPredictor::operator()(const at::Tensor& hidden, const at::Tensor& mask,
                                         const StepContext& context) const {
  at::Tensor values = first_norm_(gelu_of(first_(zero_behind(hidden.detach(), mask))));
  values = drop(values, context, first_site_);
  values = second_norm_(gelu_of(second_(zero_behind(values, mask))));
  values = drop(values, context, first_site_ + 1);
  return at::linear(values, weight_.leaf, bias_.leaf).squeeze(2).to(at::kFloat);
}

}  // namespace stoker::train
