#include "stoker/audio/trim.h"

#include <algorithm>
#include <cmath>

#include "stoker/base/invariant.h"

namespace stoker::audio {
namespace {

// Mean square of the frame centred on frame_index * hop; samples beyond the ends count as 0.
double frame_power(std::span<const float> samples, std::size_t frame_index, const TrimRule& rule) {
  const auto centre = static_cast<std::ptrdiff_t>(frame_index * rule.hop_samples);
  const auto half = static_cast<std::ptrdiff_t>(rule.frame_samples / 2);
  const auto size = static_cast<std::ptrdiff_t>(samples.size());
  const std::ptrdiff_t end =
      std::min(centre - half + static_cast<std::ptrdiff_t>(rule.frame_samples), size);
  double sum = 0;
  for (std::ptrdiff_t i = std::max<std::ptrdiff_t>(0, centre - half); i < end; ++i) {
    const double value = samples[static_cast<std::size_t>(i)];
    sum += value * value;
  }
  return sum / static_cast<double>(rule.frame_samples);
}

}  // namespace

SampleRange find_speech(std::span<const float> samples, const TrimRule& rule) {
  check_invariant(rule.hop_samples > 0 && rule.frame_samples > 0,
                  "a trim rule without hop or frame");
  const std::size_t num_frames = samples.size() / rule.hop_samples + 1;
  double loudest = 0;
  for (std::size_t i = 0; i < num_frames; ++i)
    loudest = std::max(loudest, frame_power(samples, i, rule));
  if (loudest == 0) return {};
  constexpr double kLeastPower = 1e-10;  // rms 1e-5
  const double reference = std::max(loudest, kLeastPower);
  const double least = reference * std::pow(10.0, -static_cast<double>(rule.top_db) / 10.0);
  const auto speaks = [&](std::size_t i) {
    return std::max(frame_power(samples, i, rule), kLeastPower) > least;
  };
  std::size_t first = 0;
  while (first < num_frames && !speaks(first)) ++first;
  if (first == num_frames) return {};
  std::size_t last = num_frames - 1;
  while (!speaks(last)) --last;
  const std::size_t begin = first * rule.hop_samples;
  return {begin, std::min(samples.size(), (last + 1) * rule.hop_samples) - begin};
}

}  // namespace stoker::audio
