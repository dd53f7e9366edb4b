// Where each frame of an utterance begins, which sample continues it beyond the ends, and the
// window over it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

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
  // Which of `num_samples` is at `position`, which may be outside; -1 for a zero.
  std::int64_t source_of(std::int64_t position, std::int64_t num_samples) const noexcept {
    const std::int64_t n = fit_samples > 0 ? fit_samples : num_samples;
    if (position < 0 || position >= n) {
      if (pad_mode == config::MelPadMode::kZero) return -1;
      position = reflected(position, n);
    }
    return position < num_samples ? position : -1;
  }

  config::MelFraming kind;
  config::MelPadMode pad_mode;
  std::int64_t n_fft;
  std::int64_t hop_samples;
  std::int64_t win_samples;
  std::int64_t fit_samples;
  std::int64_t drop_last_frames;
  std::int64_t first_start;

 private:
  // The position inside 0 ... n-1 that `position` outside bounces to.
  static std::int64_t reflected(std::int64_t position, std::int64_t n) noexcept {
    const std::int64_t last = n - 1;
    const std::int64_t once = position < 0 ? -position : 2 * last - position;
    return once >= 0 && once <= last ? once : reflected_often(position, n);
  }
  static std::int64_t reflected_often(std::int64_t position, std::int64_t n) noexcept;
};

// win_samples values in f64; periodic unless the shape says otherwise.
std::vector<double> mel_window(const config::MelRecipe& recipe);

}  // namespace stoker::audio
