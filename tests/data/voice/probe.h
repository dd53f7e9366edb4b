// Speaks single sounds and measures them: sustained vowels for formants, noise for its colour.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "stoker/data/voice/synthesizer.h"

namespace stoker::data::voice {

inline constexpr std::uint32_t kProbeRateHz = 22050;

// `symbol` held for half a second with silence around it; only the middle is returned.
inline std::vector<double> sustained(Language language, std::string_view symbol,
                                     const Speaker& speaker) {
  const Phone* phone = find_phone(language, symbol);
  const Phone& pause = phones_of(language)[0];
  SpokenText text{{.text = "probe", .phones = {{phone, std::string(symbol), Stress::kPrimary}}}};
  text[0].boundary = Boundary::kComma;
  text[0].is_function_word = true;  // no accent: the pitch stays put
  const auto segment = [](const Phone& of, double length_ms, std::size_t word_index) {
    Segment out;
    out.phone = &of;
    out.stress = Stress::kPrimary;
    out.word_index = word_index;
    out.length_ms = length_ms;
    return out;
  };
  const std::vector<Segment> segments{segment(pause, 60, Segment::kNoWord), segment(*phone, 500, 0),
                                      segment(pause, 60, Segment::kNoWord)};
  KeyedDraws draws({.seed = 1, .stage = "probe", .item = 1});
  const PitchContour pitch(text, segments, speaker, draws);
  const auto pcm = synthesize(plan_track(segments, pitch), speaker, {.rate_hz = kProbeRateHz});
  const auto begin = pcm.begin() + kProbeRateHz / 5;
  return {begin, begin + kProbeRateHz / 4};
}

// Autocorrelation at `lag`, as a share of the energy.
inline double correlation(const std::vector<double>& x, std::size_t lag) {
  double sum = 0, energy = 1e-9;
  for (std::size_t i = lag; i < x.size(); ++i) {
    sum += x[i] * x[i - lag];
    energy += 0.5 * (x[i] * x[i] + x[i - lag] * x[i - lag]);
  }
  return sum / energy;
}

// The best autocorrelation over the periods of 70 to 320 Hz: near 1 for voice, near 0 for noise.
inline double periodicity(const std::vector<double>& x) {
  double best = 0;
  for (std::size_t lag = kProbeRateHz / 320; lag <= kProbeRateHz / 70; ++lag) {
    best = std::max(best, correlation(x, lag));
  }
  return best;
}

// Linear prediction by Levinson and Durbin on a pre-emphasised, windowed, halved signal.
inline std::vector<double> predictor(const std::vector<double>& sound, std::size_t order) {
  std::vector<double> x;
  for (std::size_t i = 1; i + 1 < sound.size(); i += 2) {
    x.push_back(0.25 * sound[i - 1] + 0.5 * sound[i] + 0.25 * sound[i + 1]);
  }
  for (std::size_t i = x.size() - 1; i > 0; --i) x[i] -= 0.9 * x[i - 1];
  const double last = static_cast<double>(x.size() - 1);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] *= 0.5 - 0.5 * std::cos(2.0 * M_PI * static_cast<double>(i) / last);
  }
  std::vector<double> r(order + 1, 0.0), a(order + 1, 0.0);
  for (std::size_t k = 0; k <= order; ++k) {
    for (std::size_t i = k; i < x.size(); ++i) r[k] += x[i] * x[i - k];
  }
  a[0] = 1.0;
  double error = r[0] * 1.000001;
  for (std::size_t k = 1; k <= order; ++k) {
    double sum = r[k];
    for (std::size_t j = 1; j < k; ++j) sum += a[j] * r[k - j];
    const double reflection = -sum / error;
    std::vector<double> next = a;
    for (std::size_t j = 1; j < k; ++j) next[j] = a[j] + reflection * a[k - j];
    next[k] = reflection;
    a = next;
    error *= 1.0 - reflection * reflection;
  }
  return a;
}

// The lowest `count` peaks of the prediction spectrum in Hz.
inline std::vector<double> spectral_peaks(const std::vector<double>& a, std::size_t count) {
  constexpr double kHalvedRateHz = kProbeRateHz / 2.0;
  const auto level = [&](double hz) {
    double re = 0, im = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
      re += a[k] * std::cos(2.0 * M_PI * hz * static_cast<double>(k) / kHalvedRateHz);
      im -= a[k] * std::sin(2.0 * M_PI * hz * static_cast<double>(k) / kHalvedRateHz);
    }
    return -std::log(re * re + im * im);
  };
  std::vector<double> peaks;
  for (double hz = 150; hz < 5000 && peaks.size() < count; hz += 5) {
    if (level(hz) > level(hz - 5) && level(hz) >= level(hz + 5)) peaks.push_back(hz);
  }
  return peaks;
}

}  // namespace stoker::data::voice
