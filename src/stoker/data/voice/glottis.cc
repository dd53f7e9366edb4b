#include "stoker/data/voice/glottis.h"

#include "stoker/data/voice/steady_math.h"

namespace stoker::data::voice {
namespace {

constexpr double kFlowPeak = 6.75;  // makes the highest point of u^2 (1 - u) one

// A breathy voice closes softly: its source loses its treble from this corner on.
double tilt_corner_hz(double breathiness) { return 6500.0 - 7000.0 * breathiness; }

}  // namespace

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

}  // namespace stoker::data::voice
