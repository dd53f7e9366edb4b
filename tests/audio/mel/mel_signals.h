// Signals and levels that the log-mel tests share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "stoker/audio/mel/log_mel.h"

namespace stoker::audio {

// What this machine can run, lowest first.
inline std::vector<SimdLevel> runnable_levels() {
  std::vector<SimdLevel> levels{SimdLevel::kScalar};
  const SimdLevel best = detect_simd_level();
  if (best == SimdLevel::kAvx512) levels.push_back(SimdLevel::kAvx2);
  if (best != SimdLevel::kScalar) levels.push_back(best);
  return levels;
}

// -1..1, the same on every machine.
inline std::vector<float> noise(std::size_t count, std::uint64_t seed) {
  std::vector<float> values(count);
  std::uint64_t state = seed * 2 + 1;
  for (float& value : values) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    value = static_cast<float>(static_cast<double>(state >> 11) * 0x1p-52 - 1.0);
  }
  return values;
}

// A voice-like sound: gliding partials below a falling envelope, syllables, breath noise.
inline std::vector<std::int16_t> speech_like(std::size_t count, std::uint64_t seed = 1) {
  const std::vector<float> breath = noise(count, seed);
  std::vector<std::int16_t> samples(count);
  double phase = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const double t = static_cast<double>(i) / 22050.0;
    phase += (120.0 + 30.0 * std::sin(7.0 * t + static_cast<double>(seed))) / 22050.0;
    // Sines of the phase times 1, 4, 9, … as powers of one number: forty calls would be slow.
    const std::complex<double> once = std::polar(1.0, 2.0 * std::numbers::pi * phase);
    std::complex<double> power = once;
    std::complex<double> step = once * once * once;
    double x = 0.0;
    for (int h = 1; h <= 40; ++h) {
      x += power.imag() / (h * h);
      power *= step;
      step *= once * once;
    }
    const double syllable = std::max(0.0, std::sin(11.0 * t));
    x = 0.3 * x * syllable + 0.003 * static_cast<double>(breath[i]);
    samples[i] = static_cast<std::int16_t>(std::lround(std::clamp(x, -1.0, 1.0) * 32767.0));
  }
  return samples;
}

template <class Sample>
std::vector<float> run_mel(const LogMel& mel, std::span<const Sample> samples) {
  auto workspace = mel.make_workspace(samples.size());
  std::vector<float> out(mel.num_frames(samples.size()) * mel.num_mels());
  const std::size_t frames = mel.run(samples, mel_view(out, mel.num_mels()), workspace);
  EXPECT_EQ(frames, mel.num_frames(samples.size()));
  return out;
}

inline std::vector<float> run_mel(const LogMel& mel, const std::vector<std::int16_t>& samples) {
  return run_mel(mel, std::span<const std::int16_t>(samples));
}
inline std::vector<float> run_mel(const LogMel& mel, const std::vector<float>& samples) {
  return run_mel(mel, std::span<const float>(samples));
}

}  // namespace stoker::audio
