// Lays consecutive mel rows out as a padded or packed batch; on the host and on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/config/mel_dtype.h"
#include "stoker/cuda/stream.h"

namespace stoker::feed {

// Frames of `num_mels` values. Segment s takes lengths[s] frames from frame begins[s] of `rows`,
// writes them to frame out_begins[s] of `out` and fills the rest of its room with `padding`. Rooms
// do not overlap. With null `rows` the frames are in `out` already: only the rest of each room is
// filled, and the formats are the same. All pointers on the host, or all on the device;
// `rows` and `out` aligned to 16.
struct GatherBatch {
  const void* rows = nullptr;
  config::MelDtype from = config::MelDtype::kF16;
  const std::int64_t* begins = nullptr;
  const std::int32_t* lengths = nullptr;
  const std::int32_t* out_begins = nullptr;
  const std::int32_t* rooms = nullptr;
  std::size_t num_segments = 0;
  void* out = nullptr;
  config::MelDtype to = config::MelDtype::kF16;
  std::uint32_t num_mels = 80;
  float padding = 0.0F;
};

// Converts between number formats, rounding to nearest even; equal formats are copied.
void gather_pad_on_host(const GatherBatch& batch);

// Asynchronous, one launch, no allocation; the current device must be the stream's. Throws
// GpuError.
void gather_pad_on_device(const GatherBatch& batch, cuda::StreamView stream);

// Throws GpuError where the current device cannot run it: a wrong architecture, an old driver.
void load_gather_pad();

}  // namespace stoker::feed
