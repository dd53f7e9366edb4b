// What decides the order besides the data: the settings that belong to the order digest, and the
// per-row facts the order is a function of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stoker/base/philox.h"
#include "stoker/config/value_types.h"

namespace stoker::feed {

enum class BatchLayout {
  kPadded,  // one utterance a row, each row padded to the bucket's length
  kPacked,  // utterances end to end in rows of one fixed size, with offsets
};

struct SamplerSettings {
  std::uint64_t seed = kDefaultSeed;
  // Frames of one global batch, padding included.
  std::uint32_t batch_frames = config::kDefaultBatchFrames;
  std::uint32_t batch_size = 0;      // rows of one global batch; 0 = by batch_frames
  std::uint32_t batch_multiple = 1;  // B is a multiple of it; the world size divides it
  std::uint32_t max_shapes = 48;
  BatchLayout layout = BatchLayout::kPadded;
  bool shuffle = true;
  bool drop_last = false;
  bool static_shapes = false;
  std::vector<double> source_weights = {1.0};  // passes over source i in one epoch
};

// One accepted utterance, as far as the order is concerned.
struct SampledUtterance {
  std::uint32_t num_frames = 0;
  std::uint32_t num_tokens = 0;
  std::uint32_t source = 0;
  bool is_used = true;  // false: left out by the user's own limits
};

// A batch as the consumer sees it: B rows of T frames and L tokens. Packed: B rows ("bins") whose
// T frames and L tokens are shared by several utterances.
struct BatchShape {
  std::uint32_t num_rows = 0;
  std::uint32_t num_frames = 0;
  std::uint32_t num_tokens = 0;

  bool operator==(const BatchShape&) const = default;
};

}  // namespace stoker::feed
