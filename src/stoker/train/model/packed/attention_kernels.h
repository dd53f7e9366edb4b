// What attention on packed rows needs besides the attention itself: rotary positions and zeros
// behind the last row, on values of two bytes. Shows nothing of libtorch.
#pragma once

#include <cstdint>

#include "stoker/cuda/stream.h"

namespace stoker::train {

enum class ShortType { kBf16, kF16 };

// Rows end to end: begins i32 [num_rows + 1], row_of i32 [num_places], num_rows behind the last.
struct PlacesView {
  const std::int32_t* begins = nullptr;
  const std::int32_t* row_of = nullptr;
  std::int64_t num_rows = 0;
  std::int64_t num_places = 0;
};

// num_heads heads, each of `width` values, a multiple of 8 that is at most 256.
struct HeadSize {
  std::int64_t num_heads = 0;
  std::int64_t width = 0;
};

// Turns the first two thirds of each place of [N, 3, heads, width] in place, pair (2 i, 2 i + 1) by
// the angle place * 10,000^(-2 i / width); asynchronous, as all below. Throw GpuError.
void turn_heads(void* query_key_value, ShortType type, const HeadSize& size,
                const PlacesView& places, cuda::StreamView on);

// The way back for gradients, [N, heads, width] each, to [N, 3, heads, width]; zeros behind the
// last row, whatever was given there.
struct HeadGradients {
  const void* query = nullptr;
  const void* key = nullptr;
  const void* value = nullptr;
};
void join_turned_back(const HeadGradients& gradients, void* query_key_value, ShortType type,
                      const HeadSize& size, const PlacesView& places, cuda::StreamView on);

// Zeros behind the last row of [N, row_bytes]; row_bytes is a multiple of 16.
void zero_behind_rows(void* values, std::int64_t row_bytes, const PlacesView& places,
                      cuda::StreamView on);

}  // namespace stoker::train
