// Where mel frames go: rows of one utterance inside a batch, a cache record or a buffer of its own.
#pragma once

#include <cstddef>
#include <span>

#include "stoker/config/mel_dtype.h"

namespace stoker::audio {

// [rows, num_mels]; row r begins `r * row_stride` values after `data`. Borrows the memory.
struct MelView {
  void* data = nullptr;
  config::MelDtype dtype = config::MelDtype::kF32;
  std::size_t row_stride = 0;  // in values, not bytes; at least num_mels
  std::size_t rows = 0;        // how many rows may be written
};

inline MelView mel_view(std::span<float> values, std::size_t num_mels) {
  return {.data = values.data(), .row_stride = num_mels, .rows = values.size() / num_mels};
}

}  // namespace stoker::audio
