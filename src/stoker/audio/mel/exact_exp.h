// Powers of 2, e and 10 from additions and multiplications alone: the same bits on every CPU and
// GPU, which no mathematics library promises.
#pragma once

#include <bit>
#include <cstdint>

namespace stoker::audio {

// Relative error below 4e-16; beyond +-1000 the exponent is cut there, and NaN gives 2^-1000. The
// compiler must not contract a * b + c here: build with -ffp-contract=off, kernels with
// --fmad=false.
constexpr double exact_exp2(double exponent) {
  constexpr double kLimit = 1000.0;
  constexpr double kLn2 = 0.693147180559945309417;
  double x = exponent > -kLimit ? exponent : -kLimit;
  if (x > kLimit) x = kLimit;
  const auto whole = static_cast<std::int64_t>(x < 0 ? x - 0.5 : x + 0.5);
  const double y = (x - static_cast<double>(whole)) * kLn2;
  // Taylor's series from the last term: the next one would be y^14 / 14! < 5e-18.
  double sum = 1.0;
  for (int n = 13; n > 0; --n) sum = 1.0 + sum * y / n;
  return sum * std::bit_cast<double>((static_cast<std::uint64_t>(whole + 1023)) << 52U);
}

// Relative error below 1e-15 * (1 + |exponent|).
constexpr double exact_exp(double exponent) {
  return exact_exp2(exponent * 1.44269504088896340736);
}
constexpr double exact_exp10(double exponent) {
  return exact_exp2(exponent * 3.32192809488736234787);
}

// The factor of an amplitude for a level in dB.
constexpr double amplitude_of_db(double level_db) { return exact_exp10(level_db / 20.0); }

}  // namespace stoker::audio
