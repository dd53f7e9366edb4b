// Monotonic alignment search (Kim et al., "Glow-TTS", 2020): which token each frame belongs to, so
// that the sum of scores is largest, every token has at least one frame and none comes out of turn.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/cuda/stream.h"
#include "stoker/train/model/step_draws.h"

namespace stoker::train {

enum class ScoreLayout {
  kTokensFirst,  // [rows, tokens, frames]: what a CPU goes along
  kFramesFirst,  // [rows, frames, tokens]: what the threads of a GPU read together
};

// All pointers are of one device. A row with text_len or mel_len of 0, or with fewer frames than
// tokens, has no alignment: its indices are 0.
struct AlignmentBatch {
  const float* score = nullptr;            // as the layout says, finite
  const std::int64_t* text_len = nullptr;  // [rows]
  const std::int64_t* mel_len = nullptr;   // [rows]
  std::int64_t* token_of_frame = nullptr;  // [rows, frames]; 0 behind mel_len
  std::int64_t num_rows = 0;
  std::int64_t num_tokens = 0;
  std::int64_t num_frames = 0;
  ScoreLayout layout = ScoreLayout::kTokensFirst;

  constexpr std::int64_t token_stride() const {
    return layout == ScoreLayout::kTokensFirst ? num_frames : 1;
  }
  constexpr std::int64_t frame_stride() const {
    return layout == ScoreLayout::kTokensFirst ? 1 : num_tokens;
  }
};

// Of two ways with equal scores the one that stays in its token longer, looked at from the end.
void search_alignment(const AlignmentBatch& batch, unsigned num_threads);

// How strong the pull to the diagonal is in a batch of the run, on squares of shares of the
// utterance; 0 for all but the first.
constexpr double diagonal_pull(std::uint64_t step) {
  constexpr double kBatches = 100;
  constexpr double kStrength = 20'000;
  const double pull = kStrength * (1 - static_cast<double>(step) / kBatches);
  return pull > 0 ? pull : 0;
}

// A GPU computes it from the step in its memory, where there is one.
struct DiagonalPull {
  double strength = 0;
  const std::uint64_t* step_on_device = nullptr;
};
inline DiagonalPull pull_of(const StepKey& key) {
  return {diagonal_pull(key.step), key.step_on_device};
}

// The same indices on a GPU: one block a row, no word from the host, no allocation; may be recorded
// in a graph. E-TRAIN-SETTINGS above kMostDeviceTokens tokens. Throws GpuError.
struct DeviceSearch {
  void* scratch = nullptr;  // device memory of alignment_scratch_bytes()
  // Scores are less by this times the square of the difference between the shares of tokens and of
  // frames that are before.
  DiagonalPull pull{};
};
inline constexpr std::int64_t kMostDeviceTokens = 32'768;
std::size_t alignment_scratch_bytes(const AlignmentBatch& batch);
void search_alignment(const AlignmentBatch& batch, const DeviceSearch& search,
                      cuda::StreamView stream);

}  // namespace stoker::train
