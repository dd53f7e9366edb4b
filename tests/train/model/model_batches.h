// Small models and batches of random speech for tests of the model.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <vector>

#include "stoker/train/model/layers.h"
#include "stoker/train/model/tts_model.h"

namespace stoker::train {

inline ModelShape small_shape() {
  ModelShape shape;
  shape.num_tokens = 11;
  shape.num_mels = 8;
  shape.text_width = 16;
  shape.text_layers = 2;
  shape.text_heads = 2;
  shape.decoder_width = 24;
  shape.decoder_layers = 2;
  shape.decoder_heads = 3;
  shape.num_latents = 4;
  shape.reference_frames = 12;
  return shape;
}

inline at::Tensor random_values(at::IntArrayRef sizes, std::uint32_t site) {
  return draw(DrawKind::kNormal, {{5, 5}, "test-values", site}, sizes, at::kCPU);
}

struct RowLength {
  std::int64_t tokens;
  std::int64_t frames;
};

inline at::Tensor lengths_of(const std::vector<RowLength>& rows, std::int64_t RowLength::*member) {
  at::Tensor lengths = at::empty({static_cast<std::int64_t>(rows.size())}, at::kLong);
  for (std::size_t i = 0; i < rows.size(); ++i)
    lengths.data_ptr<std::int64_t>()[i] = rows[i].*member;
  return lengths;
}

// Values behind the lengths are random, too.
inline ModelBatch make_batch(const ModelShape& shape, const std::vector<RowLength>& rows,
                             const RowLength& room) {
  const auto num_rows = static_cast<std::int64_t>(rows.size());
  ModelBatch batch;
  batch.tokens =
      draw(DrawKind::kUniform, {{5, 5}, "test-tokens"}, {num_rows, room.tokens}, at::kCPU)
          .mul(static_cast<double>(shape.num_tokens))
          .to(at::kLong);
  batch.mel = random_values({num_rows, room.frames, shape.num_mels}, 1);
  batch.text_len = lengths_of(rows, &RowLength::tokens);
  batch.mel_len = lengths_of(rows, &RowLength::frames);
  return batch;
}

// The zeros that training starts from hide most of the model; tests fill them.
inline void stir(const TtsModel& model) {
  const at::NoGradGuard no_gradient;
  std::uint32_t site = 100;
  for (const NamedTensor& parameter : model.parameters())
    parameter.tensor.add_(random_values(parameter.tensor.sizes(), site++), 0.05);
}

}  // namespace stoker::train
