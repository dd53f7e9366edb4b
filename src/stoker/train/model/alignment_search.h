// Monotonic alignment search (Kim et al., "Glow-TTS", 2020): which token each frame belongs to, so
// that the sum of scores is largest, every token has at least one frame and none comes out of turn.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/cuda/stream.h"

namespace stoker::train {

// All pointers are of one device. A row with text_len or mel_len of 0, or with fewer frames than
// tokens, has no alignment: its indices are 0.
struct AlignmentBatch {
  const float* score = nullptr;            // [rows, tokens, frames], finite
  const std::int64_t* text_len = nullptr;  // [rows]
  const std::int64_t* mel_len = nullptr;   // [rows]
  std::int64_t* token_of_frame = nullptr;  // [rows, frames]; 0 behind mel_len
  std::int64_t num_rows = 0;
  std::int64_t num_tokens = 0;
  std::int64_t num_frames = 0;
};

// Of two ways with equal scores the one that stays in its token longer, looked at from the end.
void search_alignment(const AlignmentBatch& batch, unsigned num_threads);

// The same indices on a GPU: one block a row, no word from the host, no allocation; may be recorded
// in a graph. `scratch` is device memory of alignment_scratch_bytes(). Throws GpuError.
std::size_t alignment_scratch_bytes(const AlignmentBatch& batch);
void search_alignment(const AlignmentBatch& batch, void* scratch, cuda::StreamView stream);

}  // namespace stoker::train
