// The flow's velocity on packed rows.
#include <ATen/ATen.h>

#include <utility>

#include "stoker/train/model/decoder.h"

namespace stoker::train {
namespace {

// The rows of places that `num_frames` frames share each.
PackedRows in_places(const PackedRows& frames, std::int64_t num_frames) {
  if (num_frames == 1) return frames;
  const at::Tensor lengths = at::diff(frames.begins).to(at::kLong);
  return pack_rows((lengths + (num_frames - 1)).floor_divide(num_frames),
                   (frames.num_places() + frames.num_rows() * (num_frames - 1)) / num_frames,
                   (frames.longest + num_frames - 1) / num_frames);
}

// i64 [P, frames of a place]; -1 where a row has ended.
at::Tensor frames_of_places(const PackedRows& places, const PackedRows& frames,
                            std::int64_t num_frames) {
  const at::Tensor row = places.row_of.to(at::kLong).clamp_max(places.num_rows() - 1);
  const at::Tensor begins = frames.begins.to(at::kLong);
  const at::Tensor first = begins.index_select(0, row) + place_in_row(places) * num_frames;
  const at::Tensor all = first.unsqueeze(1) + at::arange(num_frames, begins.options());
  const at::Tensor is_there = all.lt(begins.index_select(0, row + 1).unsqueeze(1))
                                  .logical_and_(is_within(places).unsqueeze(1));
  return all.masked_fill(is_there.logical_not(), -1);
}

// Where each frame is among [P, frames of a place], i64 [N]; -1 behind the last row.
at::Tensor places_of_frames(const PackedRows& places, const PackedRows& frames,
                            std::int64_t num_frames) {
  const at::Tensor row = frames.row_of.to(at::kLong).clamp_max(frames.num_rows() - 1);
  const at::Tensor begin = places.begins.to(at::kLong).index_select(0, row) * num_frames;
  return (begin + place_in_row(frames)).masked_fill(is_within(frames).logical_not(), -1);
}

// A frame that is not there counts as its place's first: tokens stay in order.
fused::Repeat repeat_of(const at::Tensor& token_of_frame, const at::Tensor& frames,
                        std::int64_t kth, std::int64_t num_tokens) {
  const at::Tensor own = frames.select(1, kth);
  const at::Tensor frame = at::where(own.lt(0), frames.select(1, 0), own);
  const at::Tensor token =
      token_of_frame.index_select(0, frame.clamp_min(0)).masked_fill(frame.lt(0), num_tokens);
  const at::Tensor begins =
      at::searchsorted(token, at::arange(num_tokens + 1, token.options()), /*out_int32=*/true);
  return {token.masked_fill(token.eq(num_tokens), -1).to(at::kInt), begins};
}

}  // namespace

fused::SumAndNorm DecoderBlock::operator()(const fused::SumAndNorm& values, at::TensorList changes,
                                           const PackedRows& rows) const {
  const fused::SumAndNorm middle = fused::add_norm_modulate(
      values.sum, attention_(values.norm, rows), changes[2], {changes[3], changes[4]}, rows);
  return fused::add_norm_modulate(middle.sum, feed_forward_.packed(middle.norm), changes[5],
                                  {changes[6], changes[7]}, rows);
}

std::vector<at::Tensor> Decoder::packed_changes(const at::Tensor& time,
                                                const at::Tensor& voice) const {
  const at::Tensor first = fused::linear(time_phases(time), time_first_, fused::Result::kFloat);
  const at::Tensor embedded =
      fused::linear(at::silu(first), time_second_, fused::Result::kFloat) + voice;
  const at::Tensor changes = fused::linear(at::silu(embedded), changes_, fused::Result::kFloat);
  return around_one(changes.unflatten(1, {-1, width_})).unbind(1);
}

at::Tensor Decoder::packed_condition(const PackedInput& input, const at::Tensor& frames) const {
  const at::Tensor parts = (fused::linear(input.mean, mean_) + fused::linear(input.hidden, hidden_))
                               .unflatten(1, {num_frames_, width_});
  const std::int64_t num_tokens = parts.size(0);
  at::Tensor sum;
  for (std::int64_t kth = 0; kth < num_frames_; ++kth) {
    const at::Tensor own = fused::repeat(parts.select(1, kth),
                                         repeat_of(input.token_of_frame, frames, kth, num_tokens));
    if (kth == 0) {
      sum = own;
    } else {
      sum = sum + own.masked_fill(frames.select(1, kth).lt(0).unsqueeze(1), 0);
    }
  }
  return sum;
}

at::Tensor Decoder::packed_velocity(const PackedInput& input) const {
  const std::vector<at::Tensor> changes = packed_changes(input.time, input.voice);
  const PackedRows places = in_places(input.rows, num_frames_);
  const at::Tensor frames = frames_of_places(places, input.rows, num_frames_);
  const bool is_single = num_frames_ == 1;
  const at::Tensor noisy =
      is_single ? input.noisy
                : rearrange(input.noisy, {frames.flatten(), {}}).view({places.num_places(), -1});
  const at::Tensor first =
      (fused::linear(noisy, noisy_) + packed_condition(input, frames)).to(at::kFloat);
  fused::SumAndNorm values{first, fused::norm_modulate(first, {changes[0], changes[1]}, places,
                                                       noisy_.weight().value().scalar_type())};
  at::TensorList left = changes;
  for (const DecoderBlock& block : blocks_) {
    values = block(values, left, places);
    left = left.slice(DecoderBlock::kNumChanges);
  }
  at::Tensor out = fused::linear(values.norm, out_);
  if (is_single) return out;
  return rearrange(out.unflatten(1, {num_frames_, -1}).flatten(0, 1),
                   {places_of_frames(places, input.rows, num_frames_), frames.flatten()});
}

}  // namespace stoker::train
