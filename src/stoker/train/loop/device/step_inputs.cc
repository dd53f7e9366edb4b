#include "stoker/train/loop/device/step_inputs.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "stoker/train/model/layers.h"

namespace stoker::train {
namespace {

constexpr std::size_t kNumTables = 64;  // more than the loop is ever ahead of the device
constexpr std::size_t kNumStaged = 4;   // batches that come from host memory
constexpr std::size_t kStagedAlignment = 16;

std::size_t aligned(std::size_t size_bytes) {
  return (size_bytes + kStagedAlignment - 1) / kStagedAlignment * kStagedAlignment;
}

std::size_t count_of(std::int64_t count) { return static_cast<std::size_t>(count); }
std::uint32_t short_of(std::int64_t count) { return static_cast<std::uint32_t>(count); }

// A flat tensor's first values, in a shape; grows it where it is too small.
at::Tensor first_of(at::Tensor& flat, at::IntArrayRef sizes, const at::TensorOptions& options) {
  const std::int64_t count = c10::multiply_integers(sizes);
  if (!flat.defined() || flat.numel() < count) flat = at::empty({count}, options);
  return flat.narrow(0, 0, count).view(sizes);
}

// Parts of one staged batch, one behind the other.
class StagedParts {
 public:
  explicit StagedParts(std::byte* memory) : next_(memory) {}
  std::byte* take(std::size_t size_bytes) {
    return std::exchange(next_, next_ + aligned(size_bytes));
  }

 private:
  std::byte* next_;
};

// What of a batch is in host memory; has to be staged, then.
struct HostParts {
  std::size_t row_bytes = 0;  // of the table
  std::size_t mel_bytes = 0, token_bytes = 0, reference_bytes = 0;
  std::size_t sum() const {
    return aligned(row_bytes) + aligned(mel_bytes) + aligned(token_bytes) + reference_bytes;
  }
  bool is_table_alone() const { return mel_bytes + token_bytes + reference_bytes == 0; }
};

HostParts host_parts_of(const feed::Batch& batch, const StepShape& shape) {
  HostParts parts{.row_bytes = batch.num_rows() * sizeof(RowPlace)};
  const std::size_t frame_bytes = batch.format().bytes_per_frame();
  if (batch.device().is_cpu()) {
    parts.mel_bytes = count_of(shape.num_frames) * frame_bytes;
    parts.token_bytes = count_of(shape.num_tokens) * sizeof(std::int32_t);
  }
  const void* const reference = batch.reference_mel().data;
  if (reference != nullptr && !is_device_memory(reference)) {
    parts.reference_bytes = batch.num_rows() * count_of(shape.reference_frames) * frame_bytes;
  }
  return parts;
}

// Rows end to end, as they will be on the device.
void stage_rows(const feed::Batch& batch, std::span<RowPlace> rows, std::byte* mel,
                std::byte* tokens) {
  const std::size_t frame_bytes = batch.format().bytes_per_frame();
  const auto* const from = static_cast<const std::byte*>(batch.mel().data);
  for (RowPlace& row : rows) {
    std::memcpy(mel + row.to_frame * frame_bytes, from + row.from_frame * frame_bytes,
                row.num_frames * frame_bytes);
    std::memcpy(tokens + row.to_token * sizeof(std::int32_t), batch.tokens().data + row.from_token,
                row.num_tokens * sizeof(std::int32_t));
    row.from_frame = row.to_frame;
    row.from_token = row.to_token;
  }
}

void stage_references(const feed::Batch& batch, std::span<const RowPlace> rows,
                      std::size_t num_frames, std::byte* out) {
  const feed::MelArray mel = batch.reference_mel();
  const std::size_t frame_bytes = batch.format().bytes_per_frame();
  const auto* const from = static_cast<const std::byte*>(mel.data);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::memcpy(out + row * num_frames * frame_bytes, from + row * mel.shape[1] * frame_bytes,
                rows[row].reference_frames * frame_bytes);
  }
}

}  // namespace

StepInputs::StepInputs(const TensorRules& rules, StepLedger* ledger)
    : rules_(rules),
      ledger_(ledger),
      tables_(rules.device.index(), kNumTables),
      staged_(rules.device.index(), kNumStaged) {
  if (rules.warps.is_empty()) return;
  const std::span<const float> places = rules.warps.places();
  const at::Tensor host = at::empty({static_cast<std::int64_t>(places.size())}, at::kFloat);
  std::copy(places.begin(), places.end(), host.data_ptr<float>());
  warps_ = host.to(rules.device);
}

const PackedBatch& StepInputs::of(const StepShape& shape) {
  const auto [found, is_new] = inputs_.try_emplace(shape);
  PackedBatch& inputs = found->second;
  if (!is_new) return inputs;
  const at::TensorOptions floats = at::device(rules_.device).dtype(at::kFloat);
  const at::TensorOptions counts = floats.dtype(at::kLong);
  const at::Tensor lengths = first_of(lengths_, {3, shape.num_rows}, counts);
  inputs.mel = first_of(mel_, {shape.num_frames, rules_.num_mels}, floats);
  inputs.tokens = first_of(tokens_, {shape.num_tokens}, counts);
  inputs.text_len = lengths[0];
  inputs.mel_len = lengths[1];
  if (shape.reference_frames > 0) {
    inputs.reference =
        first_of(reference_, {shape.num_rows, shape.reference_frames, rules_.num_mels}, floats);
    inputs.reference_len = lengths[2];
  }
  inputs.longest_text = shape.longest_tokens;
  inputs.longest_mel = shape.longest_frames;
  return inputs;
}

FillTarget StepInputs::target_of(const StepShape& shape) {
  const PackedBatch& inputs = of(shape);
  const bool has_reference = inputs.reference.defined();
  return {.mel = inputs.mel.data_ptr<float>(),
          .tokens = inputs.tokens.data_ptr<std::int64_t>(),
          .text_len = inputs.text_len.data_ptr<std::int64_t>(),
          .mel_len = inputs.mel_len.data_ptr<std::int64_t>(),
          .reference = has_reference ? inputs.reference.data_ptr<float>() : nullptr,
          .reference_len = has_reference ? inputs.reference_len.data_ptr<std::int64_t>() : nullptr,
          .ledger = ledger_,
          .num_rows = short_of(shape.num_rows),
          .num_frames = short_of(shape.num_frames),
          .num_tokens = short_of(shape.num_tokens),
          .reference_frames = short_of(shape.reference_frames),
          .num_mels = short_of(rules_.num_mels),
          .mean = static_cast<float>(rules_.scale.mean),
          .deviation = static_cast<float>(rules_.scale.deviation),
          .warps = warps_.defined() ? warps_.const_data_ptr<float>() : nullptr};
}

void StepInputs::take(feed::Batch batch, const StepShape& shape, std::uint64_t step) {
  check_place(batch, rules_);
  const FillTarget to = target_of(shape);
  const HostParts parts = host_parts_of(batch, shape);
  StagingRing& ring = parts.is_table_alone() ? tables_ : staged_;
  StagedParts memory(ring.take(parts.sum()));
  const std::span rows(reinterpret_cast<RowPlace*>(memory.take(parts.row_bytes)), batch.num_rows());
  const RowTotals totals = place_rows(batch, shape.reference_frames, rows);
  if (!rules_.warps.is_empty())
    for (std::size_t row = 0; row < rows.size(); ++row)
      rows[row].warp = rules_.warps.draw(step, row);
  const feed::MelArray reference = batch.reference_mel();
  FillSource from{.rows = rows.data(),
                  .num_rows = static_cast<std::uint32_t>(rows.size()),
                  .mel = batch.mel().data,
                  .dtype = batch.mel().dtype,
                  .tokens = batch.tokens().data,
                  .reference = reference.data,
                  .reference_stride = static_cast<std::uint32_t>(reference.shape[1]),
                  .num_frames = totals.num_frames,
                  .num_tokens = totals.num_tokens,
                  .longest_frames = totals.longest_frames};
  if (parts.mel_bytes > 0) {
    std::byte* const mel = memory.take(parts.mel_bytes);
    std::byte* const tokens = memory.take(parts.token_bytes);
    stage_rows(batch, rows, mel, tokens);
    from.mel = mel;
    from.tokens = reinterpret_cast<const std::int32_t*>(tokens);
  }
  if (parts.reference_bytes > 0) {
    std::byte* const staged = memory.take(parts.reference_bytes);
    stage_references(batch, rows, to.reference_frames, staged);
    from.reference = staged;
    from.reference_stride = to.reference_frames;
  }
  const cuda::StreamView stream = current_stream(rules_.device);
  fill_inputs(from, to, step, stream);
  ring.pass_to(stream);
  if (batch.device().is_cuda()) batch.release(stream);
}

void StepInputs::make_up(const StepShape& shape) {
  const PackedBatch& inputs = of(shape);
  const MadeUpRows rows = rows_that_fill(shape);
  inputs.mel.zero_();
  inputs.tokens.zero_();
  inputs.text_len.copy_(at::tensor(rows.text_len, at::kLong));
  inputs.mel_len.copy_(at::tensor(rows.mel_len, at::kLong));
  if (!inputs.reference.defined()) return;
  inputs.reference.zero_();
  inputs.reference_len.copy_(inputs.mel_len.gt(0).to(at::kLong).mul_(shape.reference_frames));
}

void StepInputs::clear() {
  inputs_.clear();
  mel_ = tokens_ = lengths_ = reference_ = at::Tensor();
}

}  // namespace stoker::train
