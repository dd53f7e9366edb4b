// The model: reference encoder, speech-prompted text encoder, alignment, duration predictor and
// flow-matching decoder; its losses, and how it speaks.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stoker/train/model/model_shape.h"
#include "stoker/train/model/step_draws.h"

namespace stoker::train {

struct NamedTensor {
  std::string name;  // "decoder.0.attention.query.weight"
  at::Tensor tensor;
  // What the packed model computes with; its owner may point it at a copy of a shorter type.
  std::shared_ptr<at::Tensor> shadow = {};
};

// All on the model's device. What is behind the lengths has no effect. Rows of length 0 are empty.
struct ModelBatch {
  at::Tensor tokens;         // i64 [B, X], without the edges
  at::Tensor text_len;       // i64 [B]
  at::Tensor mel;            // f32 [B, Y, M], normalised
  at::Tensor mel_len;        // i64 [B]
  at::Tensor reference;      // f32 [B, R, M], normalised; not defined: a crop of the same utterance
  at::Tensor reference_len;  // i64 [B]
};

// The same rows end to end. Shapes are those of the feed's, whatever the lengths: what is behind
// the last row is not read.
struct PackedBatch {
  at::Tensor tokens;              // i64 [X], without the edges
  at::Tensor text_len;            // i64 [B]
  at::Tensor mel;                 // f32 [Y, M], normalised
  at::Tensor mel_len;             // i64 [B]
  at::Tensor reference;           // as in ModelBatch
  at::Tensor reference_len;       // i64 [B]
  std::int64_t longest_text = 0;  // no row has more tokens or frames; known to the host
  std::int64_t longest_mel = 0;
};

enum class ModelMode { kTrain, kEvaluate };  // with and without dropout

// Scalars are f32 tensors on the device; nothing waits for it.
struct Losses {
  at::Tensor duration;        // mean over tokens of the squared error of log durations
  at::Tensor prior;           // mean over frames and bands
  at::Tensor flow;            // mean over frames and bands
  at::Tensor alignment;       // of the states that frames are aligned with, as the prior
  at::Tensor num_frames;      // that prior and flow are means over: true ones outside the prompt
  at::Tensor token_of_frame;  // i64 [B, Y]; 0 is the edge before the text
  at::Tensor predicted;       // f32 [B, Y, M]: mean of each frame's token; without gradient
  at::Tensor total() const;   // duration + prior + flow + alignment
};

struct SpeakOptions {
  int num_steps = 16;
  double speed = 1.0;              // 1.1 is ten per cent faster
  double temperature = 0.4;        // deviation of the noise; less is smoother and less varied
  StepKey key{};                   // of the noise
  std::int64_t max_frames = 8192;  // of one text
};

// On the model's device.
struct SpokenBatch {
  at::Tensor mel;             // f32 [B, Y, M], normalised
  at::Tensor mel_len;         // i64 [B]
  at::Tensor token_of_frame;  // i64 [B, Y]
};

// One thread at a time. Parameters are leaf tensors, fp32, made by keyed draws from `seed`: equal
// for equal shape and seed on every device.
class TtsModel {
 public:
  struct Options {
    double dropout = 0.1;
    std::uint64_t seed = 0;
  };
  TtsModel(const ModelShape& shape, const Options& options);
  TtsModel(TtsModel&&) noexcept;
  TtsModel& operator=(TtsModel&&) noexcept;
  ~TtsModel();

  const ModelShape& shape() const;
  // In a fixed order, which checkpoints and flat buffers go by. Their data may be replaced
  // (set_data), also by memory of another device: that is how the model moves.
  const std::vector<NamedTensor>& parameters() const;

  // Differentiable with respect to the parameters. `step` of the key also decides how strong the
  // pull to the diagonal is that the first batches are aligned with.
  Losses loss(const ModelBatch& batch, const StepKey& key, ModelMode mode) const;

  // The same losses of the same rows, computed on packed sequences with the parameters' shadows;
  // `token_of_frame` and `predicted` are left out. Behind the rows nothing is computed but zeros.
  Losses loss(const PackedBatch& batch, const StepKey& key, ModelMode mode) const;

  // Tokens without edges, their lengths, and a reference each; no gradient.
  SpokenBatch speak(const ModelBatch& text_and_reference, const SpeakOptions& options) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace stoker::train
