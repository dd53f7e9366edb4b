// The losses of packed rows: the same numbers as of padded ones within rounding, by other means.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>

#include "stoker/train/model/losses.h"
#include "stoker/train/model/model_parts.h"
#include "stoker/train/model/packed/fused_ops.h"

namespace stoker::train {
namespace {

struct PackedPrompt {
  at::Tensor mel;  // [N', M]
  PackedRows rows;
  at::Tensor is_loss;  // bool [N]
};

PackedPrompt given_prompt(const PackedBatch& batch, const PackedRows& frames) {
  const std::int64_t longest = batch.reference.size(1);
  const PackedRows rows =
      pack_rows(batch.reference_len, batch.reference.size(0) * longest, longest);
  return {join_rows(batch.reference, rows), rows, is_within(frames)};
}

// As crop_prompt() does it.
PackedPrompt cut_prompt(const PackedBatch& batch, const PackedRows& frames, const at::Tensor& crop,
                        std::int64_t most_frames) {
  const at::Tensor lengths = batch.mel_len.floor_divide(2).clamp_max(most_frames);
  const std::int64_t longest = std::min(most_frames, frames.longest / 2);
  const PackedRows rows =
      pack_rows(lengths, std::min(frames.num_places() / 2, frames.num_rows() * longest), longest);
  const at::Tensor num_places = batch.mel_len - lengths + 1;
  const at::Tensor first =
      at::minimum((crop * num_places.to(at::kFloat)).to(at::kLong), num_places - 1);
  const at::Tensor begin = frames.begins.narrow(0, 0, frames.num_rows()).to(at::kLong) + first;
  const at::Tensor taken =
      (of_rows(begin, rows) + place_in_row(rows)).masked_fill(is_within(rows).logical_not(), -1);
  const at::Tensor place = place_in_row(frames);
  const at::Tensor from = of_rows(first, frames);
  const at::Tensor is_outside =
      place.lt(from).logical_or_(place.ge(from + of_rows(lengths, frames)));
  return {rearrange(batch.mel, {taken, {}}), rows, is_outside.logical_and_(is_within(frames))};
}

// What the alignment found, for places of frames among all tokens.
struct PackedAlignment {
  at::Tensor token_of_frame;  // i64 [N], ascending; T behind the last row
  fused::Repeat tokens;
  fused::Repeat states;
  at::Tensor num_frames;  // f32 [T]
  at::Tensor is_single;   // bool [T]
};

fused::Repeat repeat_of(const at::Tensor& ascending, std::int64_t num_values) {
  const at::Tensor numbers = at::arange(num_values + 1, ascending.options());
  return {ascending.masked_fill(ascending.ge(num_values), -1).to(at::kInt),
          at::searchsorted(ascending, numbers, /*out_int32=*/true)};
}

PackedAlignment pack_alignment(const Alignment& alignment, const PackedRows& frames,
                               const PackedRows& tokens) {
  const std::int64_t num_tokens = tokens.num_places();
  const at::Tensor is_behind = is_within(frames).logical_not();
  const at::Tensor begins = tokens.begins.narrow(0, 0, tokens.num_rows()).to(at::kLong);
  const at::Tensor begin = of_rows(begins, frames);
  const at::Tensor token = join_rows(alignment.token_of_frame.unsqueeze(2), frames).squeeze(1);
  const at::Tensor state = join_rows(alignment.state_of_frame.unsqueeze(2), frames).squeeze(1);
  PackedAlignment out;
  out.token_of_frame = (begin + token).masked_fill(is_behind, num_tokens);
  out.tokens = repeat_of(out.token_of_frame, num_tokens);
  out.states = repeat_of(
      at::add(state, begin, kStatesPerToken).masked_fill(is_behind, num_tokens * kStatesPerToken),
      num_tokens * kStatesPerToken);
  out.num_frames = at::diff(out.tokens.begins).to(at::kFloat);
  out.is_single = of_rows(alignment.is_single, tokens);
  return out;
}

at::Tensor states_or_mean(const at::Tensor& states, const at::Tensor& is_single) {
  return at::where(is_single.view({-1, 1, 1}), states.mean(1, true), states).flatten(0, 1);
}

}  // namespace

Losses TtsModel::loss(const PackedBatch& batch, const StepKey& key, ModelMode mode) const {
  const c10::DeviceGuard on_device(batch.mel.device());
  const Parts& parts = *parts_;
  const bool is_training = mode == ModelMode::kTrain;
  const StepContext context{key, is_training ? parts.options.dropout : 0};
  const PackedRows frames = pack_rows(batch.mel_len, batch.mel.size(0), batch.longest_mel);
  const std::int64_t num_rows = frames.num_rows();
  const std::int64_t num_mels = parts.shape.num_mels;
  const at::Tensor time =
      draw(DrawKind::kUniform, {key, kTimeDraws}, {num_rows}, batch.mel.device());
  const PackedPrompt prompt =
      batch.reference.defined()
          ? given_prompt(batch, frames)
          : cut_prompt(batch, frames,
                       draw(DrawKind::kUniform, {key, kCropDraws}, {num_rows}, batch.mel.device()),
                       parts.shape.reference_frames);

  const PackedText text =
      with_edges(batch.tokens, batch.text_len,
                 {parts.shape.num_tokens, parts.shape.num_latents, batch.longest_text});
  const Voice voice = parts.reference(prompt.mel, prompt.rows);
  const at::Tensor hidden = parts.text(text, voice.latents, context);
  const at::Tensor log_duration = parts.duration(hidden, text.rows, context);
  const at::Tensor mean = fused::linear(hidden, parts.mean, fused::Result::kFloat);
  const at::Tensor states = fused::linear(hidden, parts.states, fused::Result::kFloat)
                                .unflatten(1, {kStatesPerToken, num_mels});

  const at::Tensor token_len = batch.text_len + 2;
  const at::Tensor is_usable = batch.text_len.gt(0).logical_and_(batch.mel_len.ge(token_len));
  const at::Tensor is_row = length_mask(batch.mel_len, frames.longest);
  const at::Tensor target = alignment_target(pad_rows(batch.mel, frames), is_row);
  const PackedAlignment alignment =
      pack_alignment(align({pad_rows(states.detach(), text.rows), target, token_len * is_usable,
                            batch.mel_len, is_training ? pull_of(key) : DiagonalPull{}}),
                     frames, text.rows);

  const fused::FlowPoint flow =
      fused::flow_point(batch.mel, time, key, frames, parts.mean.weight().value().scalar_type());
  const at::Tensor velocity = parts.decoder.packed_velocity(
      {flow.noisy, mean, hidden, alignment.token_of_frame, time, voice.vector, frames});

  const at::Tensor frame_usable = of_rows(is_usable, frames);
  const at::Tensor loss_weight = prompt.is_loss.logical_and(frame_usable).to(at::kFloat);
  const at::Tensor frame_weight = is_within(frames).logical_and(frame_usable).to(at::kFloat);
  const at::Tensor token_mask = is_within(text.rows).logical_and(of_rows(is_usable, text.rows));
  Losses losses;
  losses.num_frames = loss_weight.sum();
  const at::Tensor num_values = losses.num_frames.clamp_min(1) * num_mels;
  losses.duration = duration_loss(log_duration, alignment.num_frames, token_mask);
  losses.prior =
      fused::squared_error(fused::repeat(mean, alignment.tokens), batch.mel, loss_weight) * 0.5 /
      num_values;
  losses.flow = fused::squared_error(velocity, flow.velocity, loss_weight) / num_values;
  losses.alignment = fused::squared_error(fused::repeat(states_or_mean(states, alignment.is_single),
                                                        alignment.states),
                                          join_rows(target, frames), frame_weight) *
                     0.5 / (frame_weight.sum().clamp_min(1) * num_mels);
  return losses;
}

}  // namespace stoker::train
