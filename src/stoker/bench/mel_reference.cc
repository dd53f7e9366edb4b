#include "stoker/bench/mel_reference.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stoker::bench {
namespace {

using config::MelRecipe;

double sample_at(const MelRecipe& r, std::span<const double> samples, std::int64_t position) {
  const auto given = static_cast<std::int64_t>(samples.size());
  const std::int64_t n = r.fit_samples > 0 ? r.fit_samples : given;
  while (position < 0 || position >= n) {
    if (r.pad_mode == config::MelPadMode::kZero) return 0.0;
    if (n == 1) return samples[0];
    position = position < 0 ? -position : 2 * (n - 1) - position;
  }
  return position < given ? samples[static_cast<std::size_t>(position)] * r.waveform_scale : 0.0;
}

std::int64_t count_frames(const MelRecipe& r, std::int64_t given) {
  if (given < r.hop_samples) return 0;
  const std::int64_t n = r.fit_samples > 0 ? r.fit_samples : given;
  std::int64_t frames = 0;
  for (std::int64_t t = 0;; ++t, ++frames) {
    const std::int64_t start = t * r.hop_samples;
    const std::int64_t pad = (r.n_fft - r.hop_samples) / 2;
    if (r.framing == config::MelFraming::kSame && start + r.n_fft > n + 2 * pad) break;
    if (r.framing == config::MelFraming::kCenter && start > n) break;
    if (r.framing == config::MelFraming::kPadEnd && start >= n) break;
    if (r.framing == config::MelFraming::kSnipEdges && start + r.win_samples > n) break;
  }
  return std::max<std::int64_t>(0, frames - r.drop_last_frames);
}

double window_at(const MelRecipe& r, std::int64_t i) {
  const auto n = static_cast<double>(r.win_samples);
  const double x = 2.0 * std::numbers::pi * static_cast<double>(i);
  if (r.window == config::MelWindow::kHamming) return 0.54 - 0.46 * std::cos(x / n);
  if (r.window == config::MelWindow::kHann) return 0.5 - 0.5 * std::cos(x / n);
  const double symmetric = 0.5 - 0.5 * std::cos(x / (n - 1.0));
  return r.window == config::MelWindow::kPovey ? std::pow(symmetric, 0.85) : symmetric;
}

std::vector<double> frame_at(const MelRecipe& r, std::span<const double> samples, std::int64_t t) {
  std::int64_t start = t * r.hop_samples;
  const std::int64_t inset = (r.n_fft - r.win_samples) / 2;
  if (r.framing == config::MelFraming::kSame) start += inset - (r.n_fft - r.hop_samples) / 2;
  if (r.framing == config::MelFraming::kCenter) start += inset - r.n_fft / 2;
  std::vector<double> frame;
  for (std::int64_t i = 0; i < r.win_samples; ++i) {
    frame.push_back(sample_at(r, samples, start + i));
  }
  double mean = 0.0;
  for (const double x : frame) mean += x / static_cast<double>(r.win_samples);
  for (double& x : frame) x -= r.remove_dc ? mean : 0.0;
  const std::vector<double> before = frame;
  for (std::size_t i = 0; i < frame.size(); ++i) {
    frame[i] -= r.preemphasis * before[i == 0 ? 0 : i - 1];
    frame[i] *= window_at(r, static_cast<std::int64_t>(i));
  }
  return frame;
}

double to_mel(const MelRecipe& r, double hz) {
  if (r.scale == config::MelScale::kHtk) return 1127.0 * std::log1p(hz / 700.0);
  return hz < 1000.0 ? 3.0 * hz / 200.0 : 15.0 + 27.0 * std::log(hz / 1000.0) / std::log(6.4);
}

double to_hz(const MelRecipe& r, double mel) {
  if (r.scale == config::MelScale::kHtk) return 700.0 * std::expm1(mel / 1127.0);
  return mel < 15.0 ? 200.0 * mel / 3.0 : 1000.0 * std::exp((mel - 15.0) * std::log(6.4) / 27.0);
}

// [mels][bins]
std::vector<std::vector<double>> filters(const MelRecipe& r) {
  const double low = to_mel(r, r.fmin_hz);
  const double step = (to_mel(r, r.fmax_hz) - low) / static_cast<double>(r.num_mels + 1);
  const bool in_mel = r.triangle == config::MelTriangle::kMel;
  std::vector<std::vector<double>> bank(static_cast<std::size_t>(r.num_mels));
  for (std::size_t band = 0; band < bank.size(); ++band) {
    double mel[3];
    double hz[3];
    for (std::size_t e = 0; e < 3; ++e) {
      mel[e] = low + step * static_cast<double>(band + e);
      hz[e] = to_hz(r, mel[e]);
    }
    const double* edge = in_mel ? mel : hz;
    const double norm = r.norm == config::MelNorm::kSlaney ? 2.0 / (hz[2] - hz[0]) : 1.0;
    for (std::int64_t bin = 0; bin <= r.n_fft / 2; ++bin) {
      const double f = static_cast<double>(bin * r.sample_rate_hz) / static_cast<double>(r.n_fft);
      const double x = in_mel ? to_mel(r, f) : f;
      const double rise = (x - edge[0]) / (edge[1] - edge[0]);
      const double fall = (edge[2] - x) / (edge[2] - edge[1]);
      bank[band].push_back(std::max(0.0, std::min(rise, fall)) * norm);
    }
  }
  return bank;
}

// |X|^power of the bins, by the definition of the transform.
std::vector<double> spectrum_of(const MelRecipe& r, const std::vector<double>& frame,
                                const std::vector<double>& cosine) {
  const auto n = static_cast<std::size_t>(r.n_fft);
  std::vector<double> bins;
  for (std::size_t k = 0; k <= n / 2; ++k) {
    double re = 0.0;
    double im = 0.0;
    std::size_t turn = 0;
    for (const double x : frame) {
      re += x * cosine[turn];
      im += x * cosine[turn + n];
      turn += k;
      turn -= turn < n ? 0 : n;  // a division here would take most of the time
    }
    const double power = re * re + im * im + r.magnitude_epsilon;
    bins.push_back(r.power == 1 ? std::sqrt(power) : power);
  }
  return bins;
}

double compressed(const MelRecipe& r, double x) {
  const double kept = r.floor_mode == config::MelFloor::kAdd ? x + r.floor : std::max(x, r.floor);
  if (r.log == config::MelLog::kLn) return std::log(kept);
  if (r.log == config::MelLog::kLog10) return std::log10(kept);
  return r.log == config::MelLog::kDb ? 10.0 * std::log10(kept) : kept;
}

void finish(const MelRecipe& r, MelReference& mel) {
  if (mel.values.empty()) return;
  const auto [low, high] = std::ranges::minmax(mel.values);
  for (std::size_t i = 0; i < mel.values.size(); ++i) {
    double& x = mel.values[i];
    if (r.range == config::MelRange::kBelowMax) x = std::max(x, high - r.range_below_max);
    if (r.range == config::MelRange::kMinMax) x = (x - low) / std::max(high - low, 1e-6);
    x = (x + r.out_offset) * r.out_scale;
    if (!r.channel_divisors.empty()) x /= r.channel_divisors[i % mel.num_mels];
  }
}

}  // namespace

MelReference mel_reference(const MelRecipe& r, std::span<const double> samples) {
  const auto bank = filters(r);
  const auto n = static_cast<std::size_t>(r.n_fft);
  std::vector<double> cosine(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    const double angle = 2.0 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
    cosine[i] = std::cos(angle);
    cosine[i + n] = std::sin(angle);
  }
  MelReference mel;
  mel.num_mels = bank.size();
  mel.num_frames =
      static_cast<std::size_t>(count_frames(r, static_cast<std::int64_t>(samples.size())));
  for (std::size_t t = 0; t < mel.num_frames; ++t) {
    const auto bins = spectrum_of(r, frame_at(r, samples, static_cast<std::int64_t>(t)), cosine);
    for (const auto& band : bank) {
      double sum = 0.0;
      for (std::size_t k = 0; k < bins.size(); ++k) sum += bins[k] * band[k];
      mel.linear.push_back(sum);
      mel.values.push_back(compressed(r, sum));
    }
  }
  finish(r, mel);
  return mel;
}

std::vector<double> unit_samples(std::span<const std::int16_t> samples) {
  std::vector<double> unit(samples.size());
  std::ranges::transform(samples, unit.begin(), [](std::int16_t x) { return x / 32768.0; });
  return unit;
}

MelDifference compare_mel(const MelRecipe& recipe, const MelReference& reference,
                          std::span<const float> values) {
  MelDifference difference;
  if (values.size() != reference.values.size()) {
    difference.largest_loud = difference.largest_relative = HUGE_VAL;
    return difference;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t frame = i / reference.num_mels;
    const auto row =
        std::span(reference.linear).subspan(frame * reference.num_mels, reference.num_mels);
    const double linear = reference.linear[i];
    const double off = std::abs(static_cast<double>(values[i]) - reference.values[i]);
    double& largest = linear > 1e-3   ? difference.largest_loud
                      : linear > 3e-4 ? difference.largest_middle
                                      : difference.largest_quiet;
    largest = std::isfinite(off) ? std::max(largest, off) : HUGE_VAL;
    difference.mean += off / static_cast<double>(values.size());
    if (recipe.log == config::MelLog::kNone) {
      const double allowed = std::ranges::max(row) + 5e-4;
      difference.largest_relative = std::max(difference.largest_relative, off / allowed);
    }
  }
  return difference;
}

bool within_tolerance(const MelRecipe& recipe, const MelDifference& difference) {
  if (recipe.log == config::MelLog::kNone) return difference.largest_relative <= 2e-6;
  return difference.largest_loud <= 1e-4 && difference.largest_middle <= 3e-4 &&
         difference.largest_quiet <= 5e-3 && difference.mean <= 1e-5;
}

}  // namespace stoker::bench
