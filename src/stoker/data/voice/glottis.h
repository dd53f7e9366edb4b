// The voice source: glottal pulses with the unevenness of a real larynx, and turbulence noise.
#pragma once

#include <cstdint>

#include "stoker/data/voice/speaker.h"

namespace stoker::data::voice {

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

}  // namespace stoker::data::voice
