#include "stoker/train/model/tts_model.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/DeviceGuard.h>

#include "stoker/train/model/losses.h"
#include "stoker/train/model/model_parts.h"

namespace stoker::train {
Encoded TtsModel::Parts::encode(const ModelBatch& batch, const Prompt& prompt,
                                const StepContext& context) const {
  Encoded encoded;
  encoded.text = with_edges(batch.tokens, batch.text_len, shape.num_tokens);
  const Voice voice = reference(prompt.mel, prompt.lengths);
  encoded.voice = voice.vector;
  encoded.hidden = text(encoded.text, voice.latents, context);
  encoded.log_duration = duration(encoded.hidden, encoded.text.mask, context);
  const c10::impl::ExcludeDispatchKeyGuard in_fp32(c10::autocast_dispatch_keyset);
  encoded.mean = mean(encoded.hidden);
  encoded.states = states(encoded.hidden).unflatten(2, {kStatesPerToken, shape.num_mels});
  return encoded;
}

TtsModel::TtsModel(const ModelShape& shape, const Options& options)
    : parts_(std::make_unique<Parts>(shape, options)) {}
TtsModel::TtsModel(TtsModel&&) noexcept = default;
TtsModel& TtsModel::operator=(TtsModel&&) noexcept = default;
TtsModel::~TtsModel() = default;

const ModelShape& TtsModel::shape() const { return parts_->shape; }
const std::vector<NamedTensor>& TtsModel::parameters() const { return parts_->set.all(); }

at::Tensor Losses::total() const { return duration + prior + flow + alignment; }

Losses TtsModel::loss(const ModelBatch& batch, const StepKey& key, ModelMode mode) const {
  const c10::DeviceGuard on_device(batch.mel.device());
  const bool is_training = mode == ModelMode::kTrain;
  const StepContext context{key, is_training ? parts_->options.dropout : 0};
  const at::Tensor given = at_least_one(batch.mel);
  const at::Tensor frame_mask = length_mask(batch.mel_len, given.size(1));
  const at::Tensor mel = zero_behind(given, frame_mask);
  const StepDraws draws = draw_step(key, mel);
  const Prompt prompt =
      batch.reference.defined()
          ? Prompt{batch.reference, batch.reference_len, frame_mask}
          : crop_prompt(mel, batch.mel_len, draws.crop, parts_->shape.reference_frames);
  const Encoded encoded = parts_->encode(batch, prompt, context);

  const EdgedText& text = encoded.text;
  const at::Tensor is_usable = batch.text_len.gt(0).logical_and_(batch.mel_len.ge(text.lengths));
  const at::Tensor target = alignment_target(mel, frame_mask);
  const Alignment alignment = align({encoded.states.detach(), target, text.lengths * is_usable,
                                     batch.mel_len, is_training ? pull_of(key) : DiagonalPull{}});
  const at::Tensor is_frame = frame_mask.logical_and(is_usable.unsqueeze(1));
  const at::Tensor is_loss = prompt.is_loss.logical_and(is_usable.unsqueeze(1));
  const at::Tensor mean = repeat_tokens(encoded.mean, alignment.token_of_frame);
  const FlowTarget flow = flow_target(mel, draws.noise, draws.time.view({-1, 1, 1}));
  const at::Tensor condition = parts_->decoder.condition(
      {encoded.mean, encoded.hidden, alignment.token_of_frame, frame_mask});
  const at::Tensor velocity =
      parts_->decoder.velocity({flow.noisy, condition, draws.time, encoded.voice, frame_mask});

  Losses losses;
  losses.duration = duration_loss(
      encoded.log_duration, count_frames(alignment.token_of_frame, is_frame, text.ids.size(1)),
      text.mask.logical_and(is_usable.unsqueeze(1)));
  losses.prior = masked_square(mel - mean, is_loss) * 0.5;
  losses.flow = masked_square(velocity - flow.velocity, is_loss);
  losses.alignment =
      masked_square(target - aligned_states(encoded.states, alignment), is_frame) * 0.5;
  losses.num_frames = is_loss.sum().to(at::kFloat);
  losses.token_of_frame = alignment.token_of_frame.narrow(1, 0, batch.mel.size(1));
  losses.predicted = mean.detach().narrow(1, 0, batch.mel.size(1));
  return losses;
}

SpokenBatch TtsModel::speak(const ModelBatch& request, const SpeakOptions& options) const {
  const at::NoGradGuard no_gradient;
  const c10::DeviceGuard on_device(request.tokens.device());
  const Encoded encoded =
      parts_->encode(request, {request.reference, request.reference_len, {}}, {options.key, 0});
  const at::Tensor is_spoken = encoded.text.mask.logical_and(request.text_len.gt(0).unsqueeze(1));
  const at::Tensor durations =
      encoded.log_duration.exp().div_(options.speed).round_().clamp_(1, options.max_frames) *
      is_spoken;
  // In whole numbers: a GPU adds others up in no fixed order, which deterministic runs refuse.
  const at::Tensor ends = durations.to(at::kLong).cumsum(1).clamp_max_(options.max_frames);

  SpokenBatch spoken;
  spoken.mel_len = ends.select(1, -1).contiguous();
  const std::int64_t num_rows = request.tokens.size(0);
  const std::int64_t longest = num_rows == 0 ? 0 : spoken.mel_len.max().item<std::int64_t>();
  const at::Tensor frames = at::arange(longest, ends.options()).expand({num_rows, longest});
  const at::Tensor frame_mask = length_mask(spoken.mel_len, longest);
  spoken.token_of_frame = at::searchsorted(ends, frames.contiguous(), false, true)
                              .masked_fill_(frame_mask.logical_not(), 0);
  const std::int64_t num_mels = parts_->shape.num_mels;
  at::Tensor mel = draw(DrawKind::kNormal, {options.key, kNoiseDraws},
                        {num_rows, longest, num_mels}, request.tokens.device());
  mel.mul_(options.temperature);
  if (mel.numel() == 0) {
    spoken.mel = mel;
    return spoken;
  }
  const at::Tensor condition =
      parts_->decoder.condition({encoded.mean, encoded.hidden, spoken.token_of_frame, frame_mask});
  for (int step = 0; step < options.num_steps; ++step) {
    const double time = static_cast<double>(step) / options.num_steps;
    mel.add_(parts_->decoder.velocity({mel, condition, at::full({num_rows}, time, mel.options()),
                                       encoded.voice, frame_mask}),
             1.0 / options.num_steps);
  }
  spoken.mel = zero_behind(mel, frame_mask);
  return spoken;
}

}  // namespace stoker::train
