// Which memory a step needs for the feed's shapes, and where each row of a batch goes in it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stoker::feed {
class Batch;
class Feed;
struct BatchFormat;
struct BatchShape;
}  // namespace stoker::feed

namespace stoker::train {

struct StepShape;

// One row of a batch: where it begins in the feed's slot and among rows laid end to end. A row
// without text or without frames is empty.
struct RowPlace {
  std::uint32_t from_frame = 0;
  std::uint32_t from_token = 0;
  std::uint32_t to_frame = 0;
  std::uint32_t to_token = 0;
  std::uint32_t num_frames = 0;
  std::uint32_t num_tokens = 0;
  std::uint32_t reference_frames = 0;
  std::uint32_t warp = 0;  // of VoiceWarps, where there are any; a row is two loads of 16 bytes
};

struct RowTotals {
  std::uint32_t num_frames = 0;
  std::uint32_t num_tokens = 0;
  std::uint32_t longest_frames = 0;
};

// Of references the first `max_reference_frames` are taken.
StepShape step_shape_of(const feed::BatchShape& shape, const feed::BatchFormat& format,
                        std::int64_t max_reference_frames);
// Every shape that a feed's batches can have, each once, the one of most frames first.
std::vector<StepShape> step_shapes_of(const feed::Feed& feed, std::int64_t max_reference_frames);

// `out` has a place for each row of the batch.
RowTotals place_rows(const feed::Batch& batch, std::int64_t max_reference_frames,
                     std::span<RowPlace> out);

// Rows that fill a shape, for warming up and measuring: as many frames and tokens as it holds.
struct MadeUpRows {
  std::vector<std::int64_t> mel_len;
  std::vector<std::int64_t> text_len;
};
MadeUpRows rows_that_fill(const StepShape& shape);

}  // namespace stoker::train
