// Second-order sections: the resonances and the zero a vocal tract is made of.
#pragma once

#include "stoker/data/voice/steady_math.h"

namespace stoker::data::voice {

// y[n] = a x[n] + b y[n-1] + c y[n-2], gain 1 at 0 Hz (Klatt 1980, eq. 1 and 2).
class Resonator {
 public:
  void tune(double centre_hz, double width_hz, double rate_hz) noexcept {
    const double radius = exp_of(-kPi * width_hz / rate_hz);
    c_ = -radius * radius;
    b_ = 2.0 * radius * cos_turns(centre_hz / rate_hz);
    a_ = 1.0 - b_ - c_;
  }
  double step(double x) noexcept {
    const double y = a_ * x + (b_ * y1_ + c_ * y2_);
    y2_ = y1_;
    y1_ = y;
    return y;
  }

 private:
  double a_ = 1, b_ = 0, c_ = 0, y1_ = 0, y2_ = 0;
};

// The inverse of a Resonator: a zero pair, gain 1 at 0 Hz.
class AntiResonator {
 public:
  void tune(double centre_hz, double width_hz, double rate_hz) noexcept {
    const double radius = exp_of(-kPi * width_hz / rate_hz);
    const double c = -radius * radius;
    const double b = 2.0 * radius * cos_turns(centre_hz / rate_hz);
    a_ = 1.0 / (1.0 - b - c);
    b_ = -b * a_;
    c_ = -c * a_;
  }
  double step(double x) noexcept {
    const double y = a_ * x + (b_ * x1_ + c_ * x2_);
    x2_ = x1_;
    x1_ = x;
    return y;
  }

 private:
  double a_ = 1, b_ = 0, c_ = 0, x1_ = 0, x2_ = 0;
};

// A band-pass with gain `gain` at its centre, 0 at 0 Hz: colours noise.
class BandPass {
 public:
  struct Shape {
    double centre_hz, width_hz, gain;
  };
  void tune(const Shape& shape, double rate_hz) noexcept {
    const double radius = exp_of(-kPi * shape.width_hz / rate_hz);
    c_ = -radius * radius;
    b_ = 2.0 * radius * cos_turns(shape.centre_hz / rate_hz);
    a_ = shape.gain * 0.5 * (1.0 + c_);
  }
  double step(double x) noexcept {
    const double y = a_ * (x - x2_) + (b_ * y1_ + c_ * y2_);
    x2_ = x1_;
    x1_ = x;
    y2_ = y1_;
    y1_ = y;
    return y;
  }

 private:
  double a_ = 0, b_ = 0, c_ = 0, x1_ = 0, x2_ = 0, y1_ = 0, y2_ = 0;
};

// Two equal first-order high-passes in a row; passes everything when tuned to 0 Hz.
class LowCut {
 public:
  void tune(double corner_hz, double rate_hz) noexcept {
    keep_ = exp_of(-2.0 * kPi * corner_hz / rate_hz);
    is_open_ = corner_hz <= 0;
  }
  double step(double x) noexcept {
    if (is_open_) return x;
    const double first = keep_ * (y1_ + x - x1_);
    const double second = keep_ * (z1_ + first - y1_);
    x1_ = x;
    y1_ = first;
    z1_ = second;
    return second;
  }

 private:
  double keep_ = 1, x1_ = 0, y1_ = 0, z1_ = 0;
  bool is_open_ = true;
};

}  // namespace stoker::data::voice
