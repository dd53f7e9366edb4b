// Integrated loudness (ITU-R BS.1770-4) of one channel, and gains that bring an utterance to a
// level.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stoker::audio {

// The two biquads of the K-weighting for a sample rate.
struct KWeighting {
  struct Biquad {
    double b0, b1, b2, a1, a2;
  };
  Biquad shelf;      // the head: about +4 dB above 1.7 kHz
  Biquad high_pass;  // below 38 Hz
};
KWeighting k_weighting(std::uint32_t rate_hz);

// Below it the weighting's filters do not exist.
inline constexpr std::uint32_t kMinLoudnessRateHz = 8000;

// Blocks of 400 ms every 100 ms, gated at -70 LUFS and at 10 LU below the ungated mean. Utterances
// shorter than one block are taken as one block. Digital silence, or nothing above the gate, gives
// -infinity.
class LoudnessMeter {
 public:
  // Precondition: rate_hz >= kMinLoudnessRateHz.
  explicit LoudnessMeter(std::uint32_t rate_hz);
  // Reuses its scratch memory: allocates only when an utterance is longer than any before.
  double integrated_lufs(std::span<const float> samples);

 private:
  KWeighting weighting_;
  std::size_t step_samples_;
  std::vector<double> step_power_;
};

double peak_of(std::span<const float> samples) noexcept;
double rms_of(std::span<const float> samples) noexcept;

// Linear gains; 1 for silence, whose level is undefined. Never lifts the peak above max_peak.
double gain_to_lufs(double measured_lufs, double target_lufs, double peak,
                    double max_peak) noexcept;
double gain_to_rms(double rms, double target_rms, double peak, double max_peak) noexcept;
double gain_to_peak(double peak, double target_peak) noexcept;

void apply_gain(std::span<float> samples, double gain) noexcept;

inline constexpr double kMinusOneDbfs = 0.8912509381337456;

}  // namespace stoker::audio
