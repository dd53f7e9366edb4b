#include "stoker/audio/mel/mel_frame_grid.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stoker::audio {
namespace {

std::int64_t first_start_of(const config::MelRecipe& r) {
  const std::int64_t window_inset = (r.n_fft - r.win_samples) / 2;
  switch (r.framing) {
    case config::MelFraming::kSame:
      return window_inset - (r.n_fft - r.hop_samples) / 2;
    case config::MelFraming::kCenter:
      return window_inset - r.n_fft / 2;
    case config::MelFraming::kPadEnd:
    case config::MelFraming::kSnipEdges:
      return 0;
  }
  return 0;
}

double window_value(config::MelWindow shape, double index, double length) {
  const auto cosine = [&](double period) {
    return std::cos(2.0 * std::numbers::pi * index / period);
  };
  switch (shape) {
    case config::MelWindow::kHann:
      return 0.5 - 0.5 * cosine(length);
    case config::MelWindow::kHannSymmetric:
      return 0.5 - 0.5 * cosine(length - 1.0);
    case config::MelWindow::kHamming:
      return 0.54 - 0.46 * cosine(length);
    case config::MelWindow::kPovey:
      return std::pow(0.5 - 0.5 * cosine(length - 1.0), 0.85);
  }
  return 0.0;
}

}  // namespace

FrameGrid::FrameGrid(const config::MelRecipe& r)
    : kind(r.framing),
      pad_mode(r.pad_mode),
      n_fft(r.n_fft),
      hop_samples(r.hop_samples),
      win_samples(r.win_samples),
      fit_samples(r.fit_samples),
      drop_last_frames(r.drop_last_frames),
      first_start(first_start_of(r)) {}

std::size_t FrameGrid::num_frames(std::size_t num_samples) const noexcept {
  const auto given = static_cast<std::int64_t>(num_samples);
  if (given < hop_samples) return 0;
  const std::int64_t n = fit_samples > 0 ? fit_samples : given;
  std::int64_t frames = 0;
  switch (kind) {
    case config::MelFraming::kSame: {
      const std::int64_t room = n + (n_fft - hop_samples) / 2 * 2 - n_fft;
      frames = room < 0 ? 0 : room / hop_samples + 1;
      break;
    }
    case config::MelFraming::kCenter:
      frames = 1 + n / hop_samples;
      break;
    case config::MelFraming::kPadEnd:
      frames = (n + hop_samples - 1) / hop_samples;
      break;
    case config::MelFraming::kSnipEdges:
      frames = n < win_samples ? 0 : 1 + (n - win_samples) / hop_samples;
      break;
  }
  return static_cast<std::size_t>(std::max<std::int64_t>(0, frames - drop_last_frames));
}

std::int64_t FrameGrid::reflected_often(std::int64_t position, std::int64_t n) noexcept {
  if (n == 1) return 0;
  const std::int64_t period = 2 * (n - 1);
  const std::int64_t inside = ((position % period) + period) % period;
  return inside < n ? inside : period - inside;
}

std::vector<double> mel_window(const config::MelRecipe& recipe) {
  std::vector<double> window(static_cast<std::size_t>(recipe.win_samples));
  for (std::size_t i = 0; i < window.size(); ++i) {
    window[i] = window_value(recipe.window, static_cast<double>(i),
                             static_cast<double>(recipe.win_samples));
  }
  return window;
}

}  // namespace stoker::audio
