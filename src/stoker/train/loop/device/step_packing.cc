#include "stoker/train/loop/device/step_packing.h"

#include <algorithm>

#include "stoker/feed/batch.h"
#include "stoker/feed/feed.h"
#include "stoker/train/loop/learner.h"

namespace stoker::train {
namespace {

std::int64_t signed_of(std::size_t count) { return static_cast<std::int64_t>(count); }

}  // namespace

StepShape step_shape_of(const feed::BatchShape& shape, const feed::BatchFormat& format,
                        std::int64_t max_reference_frames) {
  const bool is_packed = format.layout == feed::BatchLayout::kPacked;
  const std::int64_t longest = shape.num_frames;
  return {
      .is_packed = is_packed,
      .num_rows = is_packed ? signed_of(format.max_rows) : std::int64_t{shape.num_rows},
      .num_frames = std::int64_t{shape.num_rows} * shape.num_frames,
      .num_tokens = std::int64_t{shape.num_rows} * shape.num_tokens,
      .longest_frames = is_packed ? std::min(longest, signed_of(format.max_row_frames)) : longest,
      .longest_tokens = shape.num_tokens,
      .reference_frames = std::min(std::int64_t{format.reference_frames}, max_reference_frames)};
}

std::vector<StepShape> step_shapes_of(const feed::Feed& feed, std::int64_t max_reference_frames) {
  std::vector<StepShape> shapes;
  for (const feed::BatchShape& shape : feed.shapes()) {
    shapes.push_back(step_shape_of(shape, feed.format(), max_reference_frames));
  }
  std::sort(shapes.begin(), shapes.end(), [](const StepShape& a, const StepShape& b) {
    return a.num_frames != b.num_frames ? a.num_frames > b.num_frames : a > b;
  });
  shapes.erase(std::unique(shapes.begin(), shapes.end()), shapes.end());
  return shapes;
}

RowTotals place_rows(const feed::Batch& batch, std::int64_t max_reference_frames,
                     std::span<RowPlace> out) {
  RowTotals totals;
  const std::span<const std::int32_t> reference = batch.reference_len();
  for (std::size_t row = 0; row < batch.num_rows(); ++row) {
    RowPlace& place = out[row];
    place = {.to_frame = totals.num_frames, .to_token = totals.num_tokens};
    if (batch.mel_len()[row] <= 0 || batch.text_len()[row] <= 0) continue;
    place.from_frame = batch.frame_begins()[row];
    place.from_token = batch.token_begins()[row];
    place.num_frames = static_cast<std::uint32_t>(batch.mel_len()[row]);
    place.num_tokens = static_cast<std::uint32_t>(batch.text_len()[row]);
    if (!reference.empty()) {
      place.reference_frames = static_cast<std::uint32_t>(
          std::clamp<std::int64_t>(reference[row], 0, max_reference_frames));
    }
    totals.num_frames += place.num_frames;
    totals.num_tokens += place.num_tokens;
    totals.longest_frames = std::max(totals.longest_frames, place.num_frames);
  }
  return totals;
}

MadeUpRows rows_that_fill(const StepShape& shape) {
  MadeUpRows rows;
  std::int64_t num_frames = shape.num_frames;
  std::int64_t num_tokens = shape.num_tokens;
  for (std::int64_t row = 0; row < shape.num_rows; ++row) {
    rows.mel_len.push_back(std::min(num_frames, shape.longest_frames));
    rows.text_len.push_back(rows.mel_len.back() == 0 ? 0
                                                     : std::min(num_tokens, shape.longest_tokens));
    num_frames -= rows.mel_len.back();
    num_tokens -= rows.text_len.back();
  }
  return rows;
}

}  // namespace stoker::train
