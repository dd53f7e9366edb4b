#include "stoker/audio/mel/mel_window.h"

#include <cmath>
#include <numbers>

namespace stoker::audio {
namespace {

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

std::vector<double> mel_window(const config::MelRecipe& recipe) {
  std::vector<double> window(static_cast<std::size_t>(recipe.win_samples));
  for (std::size_t i = 0; i < window.size(); ++i) {
    window[i] = window_value(recipe.window, static_cast<double>(i),
                             static_cast<double>(recipe.win_samples));
  }
  return window;
}

}  // namespace stoker::audio
