#include "stoker/train/loop/batch_tensors.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

#include "stoker/train/errors.h"
#include "stoker/train/loop/device/step_packing.h"
#include "stoker/train/model/layers.h"

namespace stoker::train {
namespace {

at::ScalarType scalar_of(config::MelDtype dtype) {
  switch (dtype) {
    case config::MelDtype::kF32:
      return at::kFloat;
    case config::MelDtype::kF16:
      return at::kHalf;
    case config::MelDtype::kBf16:
      return at::kBFloat16;
  }
  return at::kFloat;
}

std::int64_t signed_of(std::size_t count) { return static_cast<std::int64_t>(count); }

// A view of memory that is only read.
at::Tensor view_at(const void* data, at::IntArrayRef shape, at::ScalarType type,
                   at::Device device) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): from_blob knows no const
  return at::from_blob(const_cast<void*>(data), shape, at::device(device).dtype(type));
}

// Through pinned memory where there is a GPU: the host goes on at once, and the source may change.
at::Tensor to_device(const at::Tensor& host, at::Device device) {
  if (device.is_cpu()) return host;
  return host.pin_memory().to(device, /*non_blocking=*/true);
}

template <class T>
at::Tensor lengths_of(std::span<const T> values, const at::Device& device) {
  const at::Tensor host = at::empty({signed_of(values.size())}, at::kLong);
  std::copy(values.begin(), values.end(), host.data_ptr<std::int64_t>());
  return to_device(host, device);
}

// Always new memory, never the feed's.
at::Tensor normalised(const at::Tensor& mel, const MelScale& scale) {
  return at::sub(mel.to(at::kFloat), scale.mean).div_(scale.deviation);
}

// [B, 1, M]: where in its mel each band of a stretched row comes from, as it was drawn; not defined
// where nothing is stretched.
at::Tensor drawn_places(const TensorRules& rules, std::optional<std::uint64_t> batch_number,
                        std::size_t num_rows) {
  if (!batch_number || rules.warps.is_empty()) return {};
  const at::Tensor places = at::empty({signed_of(num_rows), 1, rules.num_mels}, at::kFloat);
  float* out = places.data_ptr<float>();
  for (std::size_t row = 0; row < num_rows; ++row) {
    const auto of_row = rules.warps.places_of(rules.warps.draw(*batch_number, row));
    out = std::copy(of_row.begin(), of_row.end(), out);
  }
  return to_device(places, rules.device);
}

at::Tensor stretched(const at::Tensor& mel, const at::Tensor& places) {
  if (!places.defined()) return mel;
  const at::Tensor values = mel.to(at::kFloat);
  const at::Tensor below = places.floor();
  const auto band = [&](const at::Tensor& index) {
    return values.gather(2, index.clamp_max(mel.size(2) - 1).to(at::kLong).expand(mel.sizes()));
  };
  const at::Tensor low = band(below);
  return low + (band(below + 1) - low) * (places - below);
}

// Where each place of padded rows is in values that are laid end to end; behind a row's end its own
// last value is repeated.
at::Tensor unpacking(std::span<const std::uint32_t> begins, std::span<const std::int32_t> lengths,
                     std::int64_t longest) {
  at::Tensor index = at::empty({signed_of(lengths.size()), longest}, at::kLong);
  std::int64_t* out = index.data_ptr<std::int64_t>();
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    const std::int64_t last = std::max<std::int64_t>(lengths[row], 1) - 1;
    const std::int64_t begin = lengths[row] > 0 ? std::int64_t{begins[row]} : 0;
    for (std::int64_t i = 0; i < longest; ++i) *out++ = begin + std::min(i, last);
  }
  return index;
}

at::Tensor unpack(const at::Tensor& flat, const at::Tensor& index) {
  std::vector<std::int64_t> shape = index.sizes().vec();
  for (std::int64_t axis = 1; axis < flat.dim(); ++axis) shape.push_back(flat.size(axis));
  return flat.index_select(0, to_device(index.view(-1), flat.device())).view(shape);
}

std::int64_t longest_of(std::span<const std::int32_t> lengths) {
  return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
}

bool is_padded(const feed::Batch& batch) {
  const feed::BatchShape& shape = batch.shape();
  if (batch.num_rows() != shape.num_rows) return false;
  for (std::size_t row = 0; row < batch.num_rows(); ++row) {
    if (batch.mel_len()[row] == 0) continue;
    if (batch.frame_begins()[row] != row * shape.num_frames) return false;
    if (batch.token_begins()[row] != row * shape.num_tokens) return false;
  }
  return true;
}

void take_reference(const feed::Batch& batch, const TensorRules& rules, const at::Tensor& places,
                    ModelBatch& out) {
  const feed::MelArray mel = batch.reference_mel();
  if (mel.data == nullptr) return;
  const at::Device place = batch.device().is_cuda() ? rules.device : at::Device(at::kCPU);
  const std::int64_t num_frames = std::min(signed_of(mel.shape[1]), rules.max_reference_frames);
  const at::Tensor view =
      view_at(mel.data, {signed_of(mel.shape[0]), signed_of(mel.shape[1]), signed_of(mel.shape[2])},
              scalar_of(mel.dtype), place);
  const at::Tensor cut = view.narrow(1, 0, num_frames);
  const at::Tensor there = place.is_cpu() ? to_device(cut.contiguous(), rules.device) : cut;
  out.reference = normalised(stretched(there, places), rules.scale);
  out.reference_len =
      lengths_of(batch.reference_len(), rules.device).clamp_max_(rules.max_reference_frames);
}

}  // namespace

void check_place(const feed::Batch& batch, const TensorRules& rules) {
  const Device place = batch.device();
  if (place.is_cuda() && (rules.device.is_cpu() || rules.device.index() != place.index())) {
    raise({.code = &kTrainSettings,
           .promised = "batches in host memory or on " + rules.device.str(),
           .found = "one on " + place.text()});
  }
  if (signed_of(batch.mel().shape[2]) != rules.num_mels) {
    raise({.code = &kTrainSettings,
           .promised = "mels of " + std::to_string(rules.num_mels) + " bands, as the model's",
           .found = std::to_string(batch.mel().shape[2])});
  }
}

bool has_rows(const feed::Batch& batch) {
  for (std::size_t row = 0; row < batch.num_rows(); ++row) {
    if (batch.mel_len()[row] > 0 && batch.text_len()[row] > 0) return true;
  }
  return false;
}

ModelBatch take_tensors(feed::Batch batch, const TensorRules& rules,
                        std::optional<std::uint64_t> batch_number) {
  check_place(batch, rules);
  const at::Device place = batch.device().is_cuda() ? rules.device : at::Device(at::kCPU);
  const feed::MelArray mels = batch.mel();
  const auto texts = batch.tokens();
  at::Tensor mel =
      view_at(mels.data, {signed_of(mels.shape[0]), signed_of(mels.shape[1]), rules.num_mels},
              scalar_of(mels.dtype), place);
  at::Tensor tokens =
      view_at(texts.data, {signed_of(texts.shape[0]), signed_of(texts.shape[1])}, at::kInt, place);
  if (place.is_cpu()) {
    mel = to_device(mel, rules.device);
    tokens = to_device(tokens, rules.device);
  }
  if (!is_padded(batch)) {
    mel = unpack(mel.view({-1, rules.num_mels}),
                 unpacking(batch.frame_begins(), batch.mel_len(), longest_of(batch.mel_len())));
    tokens = unpack(tokens.view(-1), unpacking(batch.token_begins(), batch.text_len(),
                                               longest_of(batch.text_len())));
  }
  const at::Tensor places =
      drawn_places(rules, batch_number, static_cast<std::size_t>(mel.size(0)));
  ModelBatch out{.tokens = tokens.to(at::kLong),
                 .text_len = lengths_of(batch.text_len(), rules.device),
                 .mel = normalised(stretched(mel, places), rules.scale),
                 .mel_len = lengths_of(batch.mel_len(), rules.device),
                 .reference = {},
                 .reference_len = {}};
  take_reference(batch, rules, places, out);
  if (batch.device().is_cuda()) batch.release(current_stream(rules.device));
  return out;
}

ModelBatch made_up_tensors(const StepShape& shape, const TensorRules& rules) {
  const at::TensorOptions floats = at::device(rules.device).dtype(at::kFloat);
  const at::TensorOptions counts = floats.dtype(at::kLong);
  const MadeUpRows rows = rows_that_fill(shape);
  ModelBatch made{.tokens = at::zeros({shape.num_rows, shape.longest_tokens}, counts),
                  .text_len = at::tensor(rows.text_len, counts),
                  .mel = at::zeros({shape.num_rows, shape.longest_frames, rules.num_mels}, floats),
                  .mel_len = at::tensor(rows.mel_len, counts),
                  .reference = {},
                  .reference_len = {}};
  if (shape.reference_frames == 0) return made;
  made.reference = at::zeros({shape.num_rows, shape.reference_frames, rules.num_mels}, floats);
  made.reference_len = at::full({shape.num_rows}, shape.reference_frames, counts);
  return made;
}

RowNames names_of(const feed::Batch& batch) {
  RowNames names;
  for (std::size_t row = 0; row < batch.num_rows(); ++row) {
    const bool is_whole = batch.mel_len()[row] > 0 && batch.text_len()[row] > 0;
    names.ids.emplace_back(batch.id(row));
    names.text_len.push_back(is_whole ? batch.text_len()[row] : 0);
    names.mel_len.push_back(is_whole ? batch.mel_len()[row] : 0);
  }
  return names;
}

ModelBatch take_row(const ModelBatch& batch, std::int64_t row, std::int64_t num_tokens,
                    std::int64_t num_frames) {
  const auto cut = [row](const at::Tensor& tensor) {
    return tensor.defined() ? tensor.narrow(0, row, 1) : tensor;
  };
  return {.tokens = cut(batch.tokens).narrow(1, 0, num_tokens),
          .text_len = cut(batch.text_len),
          .mel = cut(batch.mel).narrow(1, 0, num_frames),
          .mel_len = cut(batch.mel_len),
          .reference = cut(batch.reference),
          .reference_len = cut(batch.reference_len)};
}

void check_request(const Learner::SpeakRequest& request, std::int64_t num_tokens,
                   std::int64_t num_mels) {
  for (const std::vector<std::int32_t>& text : request.tokens) {
    if (text.empty()) raise({.code = &kSpeakText, .promised = "a token", .found = "none"});
    const auto [low, high] = std::minmax_element(text.begin(), text.end());
    if (*low < 0 || *high >= num_tokens) {
      raise({.code = &kSpeakVocabulary,
             .promised = "tokens below " + std::to_string(num_tokens),
             .found = std::to_string(*low < 0 ? *low : *high)});
    }
  }
  const std::size_t num_references = request.references.size();
  if (num_references != 1 && num_references != request.tokens.size()) {
    raise({.code = &kSpeakReference,
           .promised = "one reference, or one for each text",
           .found = std::to_string(num_references)});
  }
  for (const std::vector<float>& reference : request.references) {
    if (reference.empty() || signed_of(reference.size()) % num_mels != 0) {
      raise({.code = &kSpeakReference,
             .promised = "frames of " + std::to_string(num_mels) + " bands",
             .found = std::to_string(reference.size()) + " values"});
    }
  }
}

ModelBatch speech_tensors(const Learner::SpeakRequest& request, std::size_t first,
                          std::size_t count, const TensorRules& rules) {
  const auto reference_of = [&](std::size_t text) -> const std::vector<float>& {
    return request.references[request.references.size() == 1 ? 0 : text];
  };
  std::vector<std::int64_t> text_len;
  std::vector<std::int64_t> reference_len;
  for (std::size_t text = first; text < first + count; ++text) {
    text_len.push_back(signed_of(request.tokens[text].size()));
    reference_len.push_back(std::min(signed_of(reference_of(text).size()) / rules.num_mels,
                                     rules.max_reference_frames));
  }
  const std::int64_t longest_text = *std::max_element(text_len.begin(), text_len.end());
  const std::int64_t longest = *std::max_element(reference_len.begin(), reference_len.end());
  const at::Tensor tokens = at::zeros({signed_of(count), longest_text}, at::kLong);
  const at::Tensor references = at::zeros({signed_of(count), longest, rules.num_mels}, at::kFloat);
  for (std::size_t row = 0; row < count; ++row) {
    const std::vector<std::int32_t>& text = request.tokens[first + row];
    std::copy(text.begin(), text.end(), tokens[signed_of(row)].data_ptr<std::int64_t>());
    std::copy_n(reference_of(first + row).begin(), reference_len[row] * rules.num_mels,
                references[signed_of(row)].data_ptr<float>());
  }
  return {.tokens = to_device(tokens, rules.device),
          .text_len = lengths_of<std::int64_t>(text_len, rules.device),
          .mel = {},
          .mel_len = {},
          .reference = normalised(to_device(references, rules.device), rules.scale),
          .reference_len = lengths_of<std::int64_t>(reference_len, rules.device)};
}

std::vector<float> log_mel_row(const at::Tensor& mel, std::int64_t row, std::int64_t num_frames,
                               const MelScale& scale) {
  const at::Tensor host = mel[row]
                              .narrow(0, 0, num_frames)
                              .to(at::kFloat)
                              .mul(scale.deviation)
                              .add_(scale.mean)
                              .to(at::kCPU)
                              .contiguous();
  return {host.data_ptr<float>(), host.data_ptr<float>() + host.numel()};
}

std::vector<std::int32_t> index_row(const at::Tensor& indices, std::int64_t row,
                                    std::int64_t count) {
  const at::Tensor host = indices[row].narrow(0, 0, count).to(at::kInt).to(at::kCPU).contiguous();
  return {host.data_ptr<std::int32_t>(), host.data_ptr<std::int32_t>() + host.numel()};
}

std::vector<Learner::SpokenMel> take_spoken(const SpokenBatch& spoken, const MelScale& scale) {
  std::vector<Learner::SpokenMel> rows;
  const at::Tensor lengths = spoken.mel_len.to(at::kCPU);
  for (std::int64_t row = 0; row < lengths.size(0); ++row) {
    const std::int64_t num_frames = lengths[row].item<std::int64_t>();
    rows.push_back({.mel = log_mel_row(spoken.mel, row, num_frames, scale),
                    .num_frames = num_frames,
                    .token_of_frame = index_row(spoken.token_of_frame, row, num_frames)});
  }
  return rows;
}

}  // namespace stoker::train
