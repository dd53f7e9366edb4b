#include "stoker/data/voice/synthesizer.h"

#include <array>
#include <cstddef>

#include "stoker/data/voice/resonator.h"
#include "stoker/data/voice/steady_math.h"

namespace stoker::data::voice {
namespace {

constexpr double kFlowPeak = 6.75;  // makes the highest point of u^2 (1 - u) one

// A breathy voice closes softly: its source loses its treble from this corner on.
double tilt_corner_hz(double breathiness) { return 6500.0 - 7000.0 * breathiness; }

// Uniform noise in [-1, 1) from a 64-bit xorshift; integer, so equal on every machine.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) noexcept : state_(seed | 1U) {}
  double next() noexcept {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 7U;
    state_ ^= state_ << 17U;
    return static_cast<double>(static_cast<std::int64_t>(state_)) * 0x1p-63;
  }

 private:
  std::uint64_t state_;
};

// The derivative of glottal flow u^2 (1 - u) over the open phase (Rosenberg 1971; Klatt and Klatt
// 1990), -1 at the moment of closure. Differencing the flow instead of sampling its derivative
// spreads the corner at closure over one sample and so keeps aliasing down.
class Glottis {
 public:
  Glottis(const Speaker& speaker, double rate_hz, std::uint64_t noise_seed) noexcept;

  struct Pulse {
    double flow_slope;  // excites the tract
    double openness;    // 0 closed .. 1 open; lets breath through
  };
  Pulse next(double pitch_hz) noexcept;

 private:
  double flow_at(double phase) const noexcept;
  void begin_period() noexcept;

  double open_quotient_, jitter_, shimmer_, rate_hz_, tilt_;
  Noise noise_;
  double phase_ = 0;
  double previous_flow_ = 0;
  double stretch_ = 1.0;
  double strength_ = 1.0;
  double tilted_ = 0;
};

Glottis::Glottis(const Speaker& speaker, double rate_hz, std::uint64_t noise_seed) noexcept
    : open_quotient_(speaker.open_quotient),
      jitter_(speaker.jitter),
      shimmer_(speaker.shimmer),
      rate_hz_(rate_hz),
      tilt_(exp_of(-2.0 * kPi * tilt_corner_hz(speaker.breathiness) / rate_hz)),
      noise_(noise_seed) {}

double Glottis::flow_at(double phase) const noexcept {
  const double u = phase / open_quotient_;
  return u < 1.0 ? kFlowPeak * u * u * (1.0 - u) : 0.0;
}

void Glottis::begin_period() noexcept {
  stretch_ = 1.0 + jitter_ * noise_.next() * 1.7;
  strength_ = 1.0 + shimmer_ * noise_.next() * 1.7;
}

Glottis::Pulse Glottis::next(double pitch_hz) noexcept {
  const double step = pitch_hz * stretch_ / rate_hz_;
  phase_ += step;
  if (phase_ >= 1.0) {
    phase_ -= 1.0;
    begin_period();
  }
  const double flow = flow_at(phase_);
  const double slope = (flow - previous_flow_) / step * (open_quotient_ / kFlowPeak);
  previous_flow_ = flow;
  tilted_ = slope * strength_ * (1.0 - tilt_) + tilted_ * tilt_;
  return {tilted_, flow};
}

// Resonances above the third stay where they are; they shape the treble but not the words.
struct FixedResonance {
  double centre_hz, width_hz;
};
constexpr std::array kHighResonances{FixedResonance{3400, 200}, FixedResonance{4300, 260},
                                     FixedResonance{5300, 400}, FixedResonance{6400, 550},
                                     FixedResonance{7500, 700}};
constexpr double kHighestShareOfRate = 0.46;
constexpr double kNasalPoleHz = 270;
constexpr double kNasalWidthHz = 100;
constexpr double kBreathLevel = 0.35;
constexpr double kNoiseLevel = 1.0;

class Tract {
 public:
  Tract(const Speaker& speaker, const SoundSettings& settings)
      : speaker_(speaker),
        rate_hz_(settings.rate_hz),
        glottis_(speaker, rate_hz_, settings.noise_seed ^ 0x9E3779B97F4A7C15U),
        noise_(settings.noise_seed) {
    for (const FixedResonance& fixed : kHighResonances) {
      const double centre_hz = fixed.centre_hz * speaker.tract_scale;
      if (centre_hz > kHighestShareOfRate * rate_hz_) break;
      high_[num_high_++].tune(centre_hz, fixed.width_hz, rate_hz_);
    }
    nasal_pole_.tune(kNasalPoleHz, kNasalWidthHz, rate_hz_);
  }

  // Sets the filters for `frame` and ramps the gains to it over `num_samples`.
  void run(const Frame& frame, std::size_t num_samples, std::vector<double>& out) {
    tune(frame);
    const Gains goal = gains_of(frame);
    const double steps = static_cast<double>(num_samples);
    const Gains step{(goal.voice - now_.voice) / steps, (goal.breath - now_.breath) / steps,
                     (goal.noise - now_.noise) / steps};
    for (std::size_t i = 0; i < num_samples; ++i) {
      now_.voice += step.voice;
      now_.breath += step.breath;
      now_.noise += step.noise;
      out.push_back(next_sample(frame.pitch_hz));
    }
    now_ = goal;
  }

 private:
  struct Gains {
    double voice = 0, breath = 0, noise = 0;
  };

  Gains gains_of(const Frame& frame) const {
    const double voiced_breath = frame.voice * speaker_.breathiness * 0.5;
    return {frame.voice, (frame.breath + voiced_breath) * kBreathLevel, frame.noise * kNoiseLevel};
  }

  void tune(const Frame& frame) {
    for (std::size_t k = 0; k < formants_.size(); ++k) {
      formants_[k].tune(frame.formant_hz[k] * speaker_.tract_scale, frame.width_hz[k], rate_hz_);
    }
    nasal_zero_.tune(frame.nasal_zero_hz, kNasalWidthHz, rate_hz_);
    if (frame.colour == nullptr || frame.noise < 1e-4) return;
    if (frame.colour == colour_ && frame.colour_scale == colour_scale_) return;
    colour_ = frame.colour;
    colour_scale_ = frame.colour_scale;
    tune_noise();
  }

  void tune_noise() {
    for (std::size_t k = 0; k < bands_.size(); ++k) {
      const NoisePeak& peak = colour_->peaks[k];
      const double centre_hz = peak.centre_hz * colour_scale_ * speaker_.tract_scale;
      const bool fits = centre_hz < kHighestShareOfRate * rate_hz_;
      bands_[k].tune({fits ? centre_hz : 0.4 * rate_hz_, peak.width_hz,
                      fits ? gain_of_db(peak.level_db) : 0.0},
                     rate_hz_);
    }
    flat_ = gain_of_db(colour_->flat_db);
    low_cut_.tune(colour_->low_cut_hz * speaker_.tract_scale, rate_hz_);
  }

  double next_sample(double pitch_hz) {
    const Glottis::Pulse pulse = glottis_.next(pitch_hz);
    const double hiss = noise_.next();
    // Breath passes mostly while the glottis is open; without voice it is steady.
    const double open = now_.voice > 0.02 ? 0.4 + 0.6 * pulse.openness : 1.0;
    double sound = pulse.flow_slope * now_.voice + hiss * now_.breath * open;
    sound = nasal_pole_.step(nasal_zero_.step(sound));
    for (Resonator& formant : formants_) sound = formant.step(sound);
    for (std::size_t k = 0; k < num_high_; ++k) sound = high_[k].step(sound);
    const double rough = low_cut_.step(noise_.next() * now_.noise * open);
    double turbulence = rough * flat_;
    for (BandPass& band : bands_) turbulence += band.step(rough);
    return sound + turbulence;
  }

  Speaker speaker_;
  double rate_hz_;
  Glottis glottis_;
  Noise noise_;
  Resonator nasal_pole_;
  AntiResonator nasal_zero_;
  std::array<Resonator, 3> formants_;
  std::array<Resonator, kHighResonances.size()> high_;
  std::size_t num_high_ = 0;
  LowCut low_cut_;
  std::array<BandPass, 3> bands_;
  const NoiseColour* colour_ = nullptr;
  double colour_scale_ = 0;
  double flat_ = 0;
  Gains now_;
};

std::vector<std::int16_t> to_pcm16(const std::vector<double>& sound, double peak) {
  double loudest = 1e-9;
  for (const double value : sound) {
    const double size = value < 0 ? -value : value;
    if (size > loudest) loudest = size;
  }
  const double gain = 32767.0 * peak / loudest;
  std::vector<std::int16_t> samples;
  samples.reserve(sound.size());
  for (const double value : sound) {
    samples.push_back(static_cast<std::int16_t>(floor_of(value * gain + 0.5)));
  }
  return samples;
}

}  // namespace

std::vector<std::int16_t> synthesize(const std::vector<Frame>& frames, const Speaker& speaker,
                                     const SoundSettings& settings) {
  Tract tract(speaker, settings);
  std::vector<double> sound;
  const double samples_per_frame = kFrameMs * static_cast<double>(settings.rate_hz) / 1000.0;
  sound.reserve(static_cast<std::size_t>(samples_per_frame * static_cast<double>(frames.size())) +
                64);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto end = static_cast<std::size_t>(samples_per_frame * static_cast<double>(i + 1));
    tract.run(frames[i], end - sound.size(), sound);
  }
  return to_pcm16(sound, settings.peak);
}

}  // namespace stoker::data::voice
