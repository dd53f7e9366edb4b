#include "stoker/train/model/losses.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <array>

namespace stoker::train {
namespace {

// Log-mels are given in units of their deviation, which is about three for speech; powers of
// magnitudes then have a deviation of about 0.46 around one.
constexpr double kLogDeviation = 3;
constexpr double kPower = 0.15;
constexpr double kTargetDeviation = 0.46;
constexpr double kLoudest = 8;
constexpr std::array<double, 3> kNeighbourWeights{0.25, 0.5, 0.25};
// A token needs as many frames on average, or it is aligned as a whole.
constexpr std::int64_t kFramesForStates = 5;

void search_on_cpu(const AlignmentBatch& batch) {
  at::parallel_for(0, batch.num_rows, 1, [&](std::int64_t begin, std::int64_t end) {
    AlignmentBatch part = batch;
    part.score += begin * batch.num_tokens * batch.num_frames;
    part.text_len += begin;
    part.mel_len += begin;
    part.token_of_frame += begin * batch.num_frames;
    part.num_rows = end - begin;
    search_alignment(part, 1);
  });
}

// Middle of each of `count` places as a share of the row's length, [B, count].
at::Tensor shares(const at::Tensor& lengths, std::int64_t count) {
  const at::Tensor places =
      at::arange(count, lengths.options().dtype(at::kFloat)).add_(0.5).unsqueeze(0);
  return places / lengths.clamp_min(1).to(at::kFloat).unsqueeze(1);
}

// [B, N * kStatesPerToken, M]
at::Tensor states_or_mean(const at::Tensor& states, const at::Tensor& is_single) {
  return at::where(is_single.view({-1, 1, 1, 1}), states.mean(2, true), states).flatten(1, 2);
}

// Of the k-th state in a row that has one or all states of each token, its number among all.
at::Tensor number_of(const at::Tensor& kth, const at::Tensor& per_token) {
  return at::add(kth.remainder(per_token), kth.floor_divide(per_token), kStatesPerToken);
}

// Logarithm of the density of each frame around each state, less what all states of a frame share;
// on a GPU frames come first, and the search itself pulls.
at::Tensor score_of(const at::Tensor& states, const AlignInput& input,
                    const at::Tensor& state_len) {
  const at::Tensor half_square = states.square().sum(2, true).mul_(-0.5);
  if (states.is_cuda())
    return at::baddbmm(half_square.transpose(1, 2), input.target, states.transpose(1, 2));
  at::Tensor score = at::baddbmm(half_square, states, input.target.transpose(1, 2));
  if (input.pull.strength > 0) {
    const at::Tensor beside = shares(state_len, score.size(1)).unsqueeze(2) -
                              shares(input.mel_len, score.size(2)).unsqueeze(1);
    score.sub_(beside.square_(), input.pull.strength);
  }
  return score;
}

at::Tensor search(const at::Tensor& score, const at::Tensor& state_len, const AlignInput& input) {
  const bool is_cpu = score.is_cpu();
  const std::int64_t num_states = score.size(is_cpu ? 1 : 2);
  const std::int64_t num_frames = score.size(is_cpu ? 2 : 1);
  at::Tensor out = at::empty({score.size(0), num_frames}, input.mel_len.options());
  const AlignmentBatch batch{
      .score = score.const_data_ptr<float>(),
      .text_len = state_len.const_data_ptr<std::int64_t>(),
      .mel_len = input.mel_len.const_data_ptr<std::int64_t>(),
      .token_of_frame = out.data_ptr<std::int64_t>(),
      .num_rows = score.size(0),
      .num_tokens = num_states,
      .num_frames = num_frames,
      .layout = is_cpu ? ScoreLayout::kTokensFirst : ScoreLayout::kFramesFirst};
  if (is_cpu) {
    search_on_cpu(batch);
    return out;
  }
  const at::Tensor scratch = at::empty({static_cast<std::int64_t>(alignment_scratch_bytes(batch))},
                                       score.options().dtype(at::kByte));
  search_alignment(batch, {scratch.data_ptr(), input.pull}, current_stream(score.device()));
  return out;
}

}  // namespace

StepDraws draw_step(const StepKey& key, const at::Tensor& mel) {
  const at::Device device = mel.device();
  return {draw(DrawKind::kUniform, {key, kTimeDraws}, {mel.size(0)}, device),
          draw(DrawKind::kNormal, {key, kNoiseDraws}, mel.sizes(), device),
          draw(DrawKind::kUniform, {key, kCropDraws}, {mel.size(0)}, device)};
}

Prompt crop_prompt(const at::Tensor& mel, const at::Tensor& mel_len, const at::Tensor& crop,
                   std::int64_t most_frames) {
  const std::int64_t num_frames = mel.size(1);
  const std::int64_t room = std::max<std::int64_t>(std::min(most_frames, num_frames / 2), 1);
  Prompt prompt;
  prompt.lengths = mel_len.floor_divide(2).clamp_max(room);
  const at::Tensor num_places = mel_len - prompt.lengths + 1;
  const at::Tensor first =
      at::minimum((crop * num_places.to(at::kFloat)).to(at::kLong), num_places - 1).unsqueeze(1);
  const at::Tensor places = (first + at::arange(room, mel_len.options())).clamp_max(num_frames - 1);
  prompt.mel = mel.gather(1, places.unsqueeze(2).expand({-1, -1, mel.size(2)}));
  const at::Tensor frames = at::arange(num_frames, mel_len.options()).unsqueeze(0);
  const at::Tensor is_outside =
      frames.lt(first).logical_or_(frames.ge(first + prompt.lengths.unsqueeze(1)));
  prompt.is_loss = is_outside.logical_and_(frames.lt(mel_len.unsqueeze(1)));
  return prompt;
}

at::Tensor alignment_target(const at::Tensor& mel, const at::Tensor& frame_mask) {
  const std::int64_t length = mel.size(1);
  const std::int64_t reach = static_cast<std::int64_t>(kNeighbourWeights.size()) / 2;
  const at::Tensor inverse =
      zero_behind(mel.clamp(-kLoudest, kLoudest).mul_(-kLogDeviation).exp_(), frame_mask);
  const at::Tensor wide = at::constant_pad_nd(inverse, {0, 0, reach, reach});
  const at::Tensor weights = at::constant_pad_nd(frame_mask.to(at::kFloat), {reach, reach});
  at::Tensor sum = at::zeros_like(mel);
  at::Tensor whole = at::zeros({mel.size(0), length}, mel.options());
  for (std::int64_t j = 0; j <= 2 * reach; ++j) {
    sum.add_(wide.narrow(1, j, length), kNeighbourWeights.at(static_cast<std::size_t>(j)));
    whole.add_(weights.narrow(1, j, length), kNeighbourWeights.at(static_cast<std::size_t>(j)));
  }
  const at::Tensor harmonic = sum.div_(whole.unsqueeze(2)).pow_(-kPower);
  return zero_behind(harmonic.sub_(1).div_(kTargetDeviation), frame_mask);
}

Alignment align(const AlignInput& input) {
  const at::NoGradGuard no_gradient;
  const c10::impl::ExcludeDispatchKeyGuard in_fp32(c10::autocast_dispatch_keyset);
  Alignment alignment;
  alignment.is_single = input.mel_len.lt(input.token_len * kFramesForStates);
  const at::Tensor is_single = alignment.is_single.unsqueeze(1);
  const at::Tensor per_token =
      is_single.to(at::kLong).mul_(1 - kStatesPerToken).add_(kStatesPerToken);
  const at::Tensor state_len = input.token_len * per_token.squeeze(1);
  // The row's states one after the other.
  const at::Tensor all = states_or_mean(input.states, alignment.is_single);
  const at::Tensor places = at::arange(all.size(1), input.mel_len.options()).unsqueeze(0);
  const at::Tensor in_order =
      repeat_tokens(all, number_of(places, per_token).clamp_max_(all.size(1) - 1));
  const at::Tensor score = score_of(in_order, input, state_len);
  const at::Tensor found = search(score, state_len, input);
  alignment.token_of_frame = found.floor_divide(per_token);
  alignment.state_of_frame = number_of(found, per_token);
  return alignment;
}

at::Tensor aligned_states(const at::Tensor& states, const Alignment& alignment) {
  return repeat_tokens(states_or_mean(states, alignment.is_single), alignment.state_of_frame);
}

at::Tensor count_frames(const at::Tensor& token_of_frame, const at::Tensor& frame_mask,
                        std::int64_t num_tokens) {
  const at::Tensor tokens = at::arange(num_tokens, token_of_frame.options()).view({1, -1, 1});
  const at::Tensor own = token_of_frame.masked_fill(frame_mask.logical_not(), -1).unsqueeze(1);
  return own.eq(tokens).sum(2).to(at::kFloat);
}

at::Tensor duration_loss(const at::Tensor& log_duration, const at::Tensor& num_frames,
                         const at::Tensor& mask) {
  const at::Tensor difference = log_duration - num_frames.clamp_min(1).log();
  const at::Tensor weight = mask.to(at::kFloat);
  return (difference * weight).square().sum() / weight.sum().clamp_min(1);
}

at::Tensor masked_square(const at::Tensor& difference, const at::Tensor& mask) {
  const at::Tensor weight = mask.to(at::kFloat);
  const at::Tensor sum = (difference * weight.unsqueeze(2)).square().sum();
  return sum / (weight.sum().clamp_min(1) * difference.size(2));
}

FlowTarget flow_target(const at::Tensor& mel, const at::Tensor& noise, const at::Tensor& time) {
  return {at::addcmul(noise * (1 - (1 - kLeastNoise) * time), mel, time),
          at::sub(mel, noise, 1 - kLeastNoise)};
}

}  // namespace stoker::train
