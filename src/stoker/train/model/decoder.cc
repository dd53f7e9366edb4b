#include "stoker/train/model/decoder.h"

#include <ATen/ATen.h>

#include <cmath>
#include <vector>

namespace stoker::train {
namespace {

constexpr double kTimeBase = 10'000;
constexpr double kTimeScale = 1'000;

// [B, Y, C] -> [B, P, frames, C]; a last place that is not full gets zeros.
at::Tensor in_places(const at::Tensor& values, std::int64_t num_frames) {
  const std::int64_t missing = (num_frames - values.size(1) % num_frames) % num_frames;
  const at::Tensor whole = missing == 0 ? values : at::constant_pad_nd(values, {0, 0, 0, missing});
  return whole.unflatten(1, {-1, num_frames});
}

at::Tensor changed_norm(const at::Tensor& values, const at::Tensor& factor,
                        const at::Tensor& shift) {
  return at::addcmul(shift, at::layer_norm(values, {values.size(2)}), factor);
}

}  // namespace

DecoderBlock::DecoderBlock(ParameterSet& set, const std::string& name, const ModelShape& shape)
    : attention_(set, name + ".attention", shape.decoder_width, shape.decoder_heads),
      feed_forward_(set, name + ".feed_forward", shape.decoder_width) {}

at::Tensor DecoderBlock::operator()(const at::Tensor& values, at::TensorList changes,
                                    const at::Tensor& bias) const {
  const at::Tensor middle = at::addcmul(
      values, attention_(changed_norm(values, changes[0], changes[1]), bias), changes[2]);
  return at::addcmul(middle, feed_forward_(changed_norm(middle, changes[3], changes[4])),
                     changes[5]);
}

Decoder::Decoder(ParameterSet& set, const ModelShape& shape)
    : width_(shape.decoder_width),
      num_frames_(shape.decoder_frames),
      noisy_(set, "decoder.noisy", {num_frames_ * shape.num_mels, width_}),
      mean_(set, "decoder.mean", {shape.num_mels, num_frames_ * width_}),
      hidden_(set, "decoder.hidden", {shape.text_width, num_frames_ * width_}),
      time_first_(set, "decoder.time.first", {width_, width_}),
      time_second_(set, "decoder.time.second", {width_, width_}),
      changes_(set, "decoder.changes",
               {width_, (shape.decoder_layers * DecoderBlock::kNumChanges + 2) * width_},
               Start::kZero),
      blocks_([&] {
        std::vector<DecoderBlock> blocks;
        for (std::int64_t i = 0; i < shape.decoder_layers; ++i)
          blocks.emplace_back(set, "decoder." + std::to_string(i), shape);
        return blocks;
      }()),
      out_(set, "decoder.out", {width_, num_frames_ * shape.num_mels}, Start::kZero) {}

at::Tensor Decoder::condition(const Tokens& tokens) const {
  const at::Tensor parts = mean_(tokens.mean) + hidden_(tokens.hidden);
  if (num_frames_ == 1) return repeat_tokens(parts, tokens.token_of_frame);
  // The first frame of a place takes the first part of its token, and so on.
  const at::Tensor part = at::arange(tokens.token_of_frame.size(1), tokens.token_of_frame.options())
                              .remainder_(num_frames_);
  const at::Tensor frames = repeat_tokens(parts.unflatten(2, {num_frames_, width_}).flatten(1, 2),
                                          at::add(part, tokens.token_of_frame, num_frames_));
  return in_places(zero_behind(frames, tokens.frame_mask), num_frames_).sum(2);
}

// One product for all, in fp32.
std::vector<at::Tensor> Decoder::changes_of(const at::Tensor& time, const at::Tensor& voice) const {
  const c10::impl::ExcludeDispatchKeyGuard in_fp32(c10::autocast_dispatch_keyset);
  const at::Tensor embedded = time_second_(at::silu(time_first_(time_phases(time)))) + voice;
  return around_one(changes_(at::silu(embedded)).unflatten(1, {-1, 1, width_})).unbind(1);
}

at::Tensor Decoder::time_phases(const at::Tensor& time) const {
  const std::int64_t half = width_ / 2;
  const at::Tensor rate = at::arange(half, time.options())
                              .mul_(-std::log(kTimeBase) / static_cast<double>(half))
                              .exp_()
                              .mul_(kTimeScale);
  const at::Tensor phase = time.unsqueeze(1) * rate;
  return at::cat({phase.sin(), phase.cos()}, 1);
}

at::Tensor Decoder::around_one(const at::Tensor& changes) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(changes.dim()), 1);
  sizes[1] = changes.size(1);
  const at::Tensor number = at::arange(sizes[1], changes.options().dtype(at::kLong));
  return changes + number.remainder(3).eq(0).to(at::kFloat).view(sizes);
}

at::Tensor Decoder::velocity(const Input& input) const {
  const std::vector<at::Tensor> changes = changes_of(input.time, input.voice);
  const bool is_single = num_frames_ == 1;
  const at::Tensor noisy =
      is_single ? input.noisy
                : in_places(zero_behind(input.noisy, input.frame_mask), num_frames_).flatten(2);
  const at::Tensor bias =
      key_bias(is_single ? input.frame_mask : input.frame_mask.slice(1, 0, {}, num_frames_));
  at::Tensor values = (noisy_(noisy) + input.condition).to(at::kFloat);
  at::TensorList left = changes;
  for (const DecoderBlock& block : blocks_) {
    values = block(values, left.slice(0, DecoderBlock::kNumChanges), bias);
    left = left.slice(DecoderBlock::kNumChanges);
  }
  at::Tensor out = out_(changed_norm(values, left[0], left[1])).to(at::kFloat);
  if (is_single) return out;
  const std::int64_t num_mels = input.noisy.size(2);
  return out.unflatten(2, {num_frames_, num_mels}).flatten(1, 2).narrow(1, 0, input.noisy.size(1));
}

}  // namespace stoker::train
