// Where each frame of an utterance begins, and which sample stands beyond its ends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/config/mel_recipe.h"

namespace stoker::audio {

// The window of frame t covers samples first_start + t*hop ... + win - 1 of the utterance after it
// was fitted to `fit_samples`. The position of the window inside the transform is left out: it
// turns phases, not magnitudes.
struct FrameGrid {
  explicit FrameGrid(const config::MelRecipe& recipe);

  std::size_t num_frames(std::size_t num_samples) const noexcept;
  std::int64_t start_of(std::size_t frame_index) const noexcept {
    return first_start + static_cast<std::int64_t>(frame_index) * hop_samples;
  }
  // Which of `num_samples` stands at `position`, which may lie outside; -1 for a zero.
  std::int64_t source_of(std::int64_t position, std::int64_t num_samples) const noexcept;

  config::MelFraming kind;
  config::MelPadMode pad_mode;
  std::int64_t n_fft;
  std::int64_t hop_samples;
  std::int64_t win_samples;
  std::int64_t fit_samples;
  std::int64_t drop_last_frames;
  std::int64_t first_start;
};

}  // namespace stoker::audio
