#include "stoker/audio/loudness.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "stoker/base/invariant.h"

namespace stoker::audio {
namespace {

// The analogue prototypes behind the coefficients that BS.1770 prints for 48 kHz.
constexpr double kShelfHz = 1681.974450955533;
constexpr double kShelfGainDb = 3.999843853973347;
constexpr double kShelfQ = 0.7071752369554196;
constexpr double kHighPassHz = 38.13547087602444;
constexpr double kHighPassQ = 0.5003270373238773;
constexpr double kOffsetLufs = -0.691;
constexpr double kAbsoluteGateLufs = -70.0;
constexpr double kRelativeGateLu = -10.0;
constexpr std::size_t kStepsPerBlock = 4;

KWeighting::Biquad shelf(double rate_hz) {
  const double k = std::tan(std::numbers::pi * kShelfHz / rate_hz);
  const double high = std::pow(10.0, kShelfGainDb / 20.0);
  const double band = std::pow(high, 0.4996667741545416);
  const double a0 = 1.0 + k / kShelfQ + k * k;
  return {(high + band * k / kShelfQ + k * k) / a0, 2.0 * (k * k - high) / a0,
          (high - band * k / kShelfQ + k * k) / a0, 2.0 * (k * k - 1.0) / a0,
          (1.0 - k / kShelfQ + k * k) / a0};
}

KWeighting::Biquad high_pass(double rate_hz) {
  const double k = std::tan(std::numbers::pi * kHighPassHz / rate_hz);
  const double a0 = 1.0 + k / kHighPassQ + k * k;
  return {1.0, -2.0, 1.0, 2.0 * (k * k - 1.0) / a0, (1.0 - k / kHighPassQ + k * k) / a0};
}

class Filter {
 public:
  explicit Filter(const KWeighting::Biquad& biquad) : c_(biquad) {}
  double operator()(double x) {
    const double y = c_.b0 * x + z1_;
    z1_ = c_.b1 * x - c_.a1 * y + z2_;
    z2_ = c_.b2 * x - c_.a2 * y;
    return y;
  }

 private:
  KWeighting::Biquad c_;
  double z1_ = 0;
  double z2_ = 0;
};

double lufs_of(double power) { return kOffsetLufs + 10.0 * std::log10(power); }
double power_of(double lufs) { return std::pow(10.0, (lufs - kOffsetLufs) / 10.0); }

// Mean power of the blocks louder than `gate_power`; 0 when there is none.
double gated_mean(std::span<const double> steps, double gate_power) {
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t first = 0; first + kStepsPerBlock <= steps.size(); ++first) {
    double block = 0;
    for (std::size_t i = 0; i < kStepsPerBlock; ++i) block += steps[first + i];
    block /= kStepsPerBlock;
    if (block <= gate_power) continue;
    sum += block;
    ++count;
  }
  return count == 0 ? 0.0 : sum / static_cast<double>(count);
}

}  // namespace

KWeighting k_weighting(std::uint32_t rate_hz) { return {shelf(rate_hz), high_pass(rate_hz)}; }

LoudnessMeter::LoudnessMeter(std::uint32_t rate_hz)
    : weighting_(k_weighting(rate_hz)), step_samples_((rate_hz + 5) / 10) {
  check_invariant(rate_hz >= kMinLoudnessRateHz, "loudness below 8 kHz");
}

double LoudnessMeter::integrated_lufs(std::span<const float> samples) {
  constexpr double kSilence = -std::numeric_limits<double>::infinity();
  if (samples.empty()) return kSilence;
  const std::size_t whole_steps = samples.size() / step_samples_;
  const bool is_short = whole_steps < kStepsPerBlock;
  const std::size_t num_steps = is_short ? kStepsPerBlock : whole_steps;
  const std::size_t step =
      is_short ? (samples.size() + kStepsPerBlock - 1) / kStepsPerBlock : step_samples_;
  step_power_.assign(num_steps, 0.0);
  Filter head(weighting_.shelf);
  Filter low_cut(weighting_.high_pass);
  for (std::size_t i = 0; i < samples.size() && i / step < num_steps; ++i) {
    const double y = low_cut(head(static_cast<double>(samples[i])));
    step_power_[i / step] += y * y;
  }
  for (double& power : step_power_) power /= static_cast<double>(step);
  const double ungated = gated_mean(step_power_, power_of(kAbsoluteGateLufs));
  if (ungated == 0) return kSilence;
  const double gate =
      std::max(power_of(kAbsoluteGateLufs), ungated * std::pow(10.0, kRelativeGateLu / 10.0));
  const double power = gated_mean(step_power_, gate);
  return power == 0 ? kSilence : lufs_of(power);
}

double peak_of(std::span<const float> samples) noexcept {
  double peak = 0;
  for (const float sample : samples) peak = std::max(peak, std::abs(static_cast<double>(sample)));
  return peak;
}

double rms_of(std::span<const float> samples) noexcept {
  double sum = 0;
  for (const float sample : samples)
    sum += static_cast<double>(sample) * static_cast<double>(sample);
  return samples.empty() ? 0.0 : std::sqrt(sum / static_cast<double>(samples.size()));
}

double gain_to_lufs(double measured_lufs, double target_lufs, double peak,
                    double max_peak) noexcept {
  if (!std::isfinite(measured_lufs) || peak == 0) return 1.0;
  return std::min(std::pow(10.0, (target_lufs - measured_lufs) / 20.0), max_peak / peak);
}

double gain_to_rms(double rms, double target_rms, double peak, double max_peak) noexcept {
  return rms == 0 || peak == 0 ? 1.0 : std::min(target_rms / rms, max_peak / peak);
}

double gain_to_peak(double peak, double target_peak) noexcept {
  return peak == 0 ? 1.0 : target_peak / peak;
}

void apply_gain(std::span<float> samples, double gain) noexcept {
  const auto factor = static_cast<float>(gain);
  for (float& sample : samples) sample *= factor;
}

}  // namespace stoker::audio
