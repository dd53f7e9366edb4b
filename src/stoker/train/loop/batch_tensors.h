// From what the feed delivers, or a request to speak, to the tensors that the model takes.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/feed/batch.h"
#include "stoker/train/loop/learner.h"
#include "stoker/train/model/tts_model.h"

namespace stoker::train {

// How tensors are made; everything runs on the device's current stream.
struct TensorRules {
  at::Device device;
  MelScale scale{};
  std::int64_t num_mels = 0;
  std::int64_t max_reference_frames = 0;  // of a longer reference the first ones are taken
  VoiceWarps warps{};                     // of batches with a number
};

// Whether there is a row that has both a text and frames.
bool has_rows(const feed::Batch& batch);

// E-TRAIN-SETTINGS for a batch of another device or of other mels.
void check_place(const feed::Batch& batch, const TensorRules& rules);

// Takes padded and packed batches, in host memory or in that of the model's device. The batch goes
// back to the feed as soon as the device has read it; the host does not wait for that. The stream
// must have waited for the batch. With a number its voices are stretched as the rules' warps say.
// E-TRAIN-SETTINGS as check_place().
ModelBatch take_tensors(feed::Batch batch, const TensorRules& rules,
                        std::optional<std::uint64_t> batch_number = {});

// As many values as a batch of the shape may have, all zero, and rows that fill it.
ModelBatch made_up_tensors(const StepShape& shape, const TensorRules& rules);

// What the host must know of a batch after it is gone.
struct RowNames {
  std::vector<std::string> ids;
  std::vector<std::int32_t> text_len, mel_len;  // both 0 in a row that is empty
};
RowNames names_of(const feed::Batch& batch);

// One row alone, without padding.
ModelBatch take_row(const ModelBatch& batch, std::int64_t row, std::int64_t num_tokens,
                    std::int64_t num_frames);

// Texts [first, first + count) of a request. E-SPEAK-TEXT, E-SPEAK-REFERENCE, E-SPEAK-VOCABULARY.
ModelBatch speech_tensors(const Learner::SpeakRequest& request, std::size_t first,
                          std::size_t count, const TensorRules& rules);
void check_request(const Learner::SpeakRequest& request, std::int64_t num_tokens,
                   std::int64_t num_mels);
// One for each row; waits.
std::vector<Learner::SpokenMel> take_spoken(const SpokenBatch& spoken, const MelScale& scale);

// The first values of a row of [rows, …] in host memory, as log-mels or indices; wait.
std::vector<float> log_mel_row(const at::Tensor& mel, std::int64_t row, std::int64_t num_frames,
                               const MelScale& scale);
std::vector<std::int32_t> index_row(const at::Tensor& indices, std::int64_t row,
                                    std::int64_t count);

}  // namespace stoker::train
