// The few curves the voice needs, as polynomials: libm's last bits differ between machines, these
// do not.
#pragma once

#include <bit>
#include <cstdint>

namespace stoker::data::voice {

inline constexpr double kPi = 3.14159265358979323846;

// Largest whole number not above `value`; precondition: |value| < 2^62.
constexpr double floor_of(double value) noexcept {
  const auto whole = static_cast<double>(static_cast<std::int64_t>(value));
  return whole > value ? whole - 1.0 : whole;
}

// Taylor series of cos(x) about 0, |x| <= pi/2: the first term left out is below 1e-12.
constexpr double cos_near_zero(double x) noexcept {
  const double s = x * x;
  double sum = 1.0;
  for (int k = 16; k >= 2; k -= 2) sum = 1.0 - s / static_cast<double>((k - 1) * k) * sum;
  return sum;
}

// cos(2 pi turns).
constexpr double cos_turns(double turns) noexcept {
  double t = turns - floor_of(turns);
  if (t > 0.5) t = 1.0 - t;
  return t > 0.25 ? -cos_near_zero(2.0 * kPi * (0.5 - t)) : cos_near_zero(2.0 * kPi * t);
}

// 2^x for -1000 < x < 1000; relative error below 1e-12.
constexpr double exp2_of(double x) noexcept {
  const double whole = floor_of(x + 0.5);
  const double y = (x - whole) * 0.69314718055994530942;
  double sum = 1.0;
  for (int k = 12; k >= 1; --k) sum = 1.0 + y / static_cast<double>(k) * sum;
  const auto exponent = static_cast<std::uint64_t>(static_cast<std::int64_t>(whole) + 1023);
  return sum * std::bit_cast<double>(exponent << 52U);
}

// e^x.
constexpr double exp_of(double x) noexcept { return exp2_of(x * 1.44269504088896340736); }

// 10^(db/20).
constexpr double gain_of_db(double db) noexcept { return exp2_of(db * 0.16609640474436811739); }

// 0 at 0, 1 at 1, flat at both ends; clamps outside.
constexpr double ease(double share) noexcept {
  if (share <= 0.0) return 0.0;
  if (share >= 1.0) return 1.0;
  return share * share * (3.0 - 2.0 * share);
}

constexpr double clamp_between(double value, double low, double high) noexcept {
  return value < low ? low : (value > high ? high : value);
}

}  // namespace stoker::data::voice
