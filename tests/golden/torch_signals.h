// The signals of make_torch_error.py, made of integers alone so that both programs have the same.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <numbers>
#include <string>
#include <vector>

namespace stoker {

using Samples = std::vector<std::int16_t>;
using SignalValue = std::function<std::int64_t(std::int64_t)>;

inline std::int64_t table_sine(std::int64_t place) {
  const double turn = static_cast<double>(place % 441) / 441.0;
  return std::llround(32767.0 * std::sin(2.0 * std::numbers::pi * turn));
}

inline Samples each_sample(const SignalValue& value) {
  Samples samples;
  for (std::int64_t n = 0; n < 3000; ++n) samples.push_back(static_cast<std::int16_t>(value(n)));
  return samples;
}

// Even between -16384 and 16383.
inline SignalValue table_noise(std::uint64_t seed) {
  const Samples values = each_sample([&seed](std::int64_t /*n*/) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (static_cast<std::int64_t>(seed >> 48U) - 32768) >> 1;
  });
  return [values](std::int64_t n) { return values[static_cast<std::size_t>(n)]; };
}

// Most of the power at low frequencies.
inline Samples wandering(const SignalValue& steps) {
  std::int64_t level = 0;
  return each_sample([&](std::int64_t n) { return level += (steps(n) >> 4) - (level >> 6); });
}

inline std::int64_t eight_harmonics(std::int64_t n) {
  std::int64_t sum = 0;
  for (std::int64_t k = 1; k <= 8; ++k) sum += table_sine(5 * k * n);
  return sum >> 3;
}

inline std::map<std::string, Samples> torch_signals() {
  constexpr auto sine = table_sine;
  const SignalValue one = table_noise(1);
  const SignalValue two = table_noise(2);
  const SignalValue three = table_noise(3);
  const SignalValue four = table_noise(4);
  const std::map<std::string, SignalValue> values{
      {"tone", [](auto n) { return sine(20 * n) >> 1; }},
      {"loud tone", [](auto n) { return sine(9 * n); }},
      {"faint tone", [](auto n) { return sine(17 * n) >> 8; }},
      {"high tone", [](auto n) { return sine(150 * n) >> 1; }},
      {"two tones", [](auto n) { return ((sine(10 * n) + sine(11 * n)) * 14000) >> 15; }},
      {"harmonics", eight_harmonics},
      {"tone on an offset", [](auto n) { return 12000 + (sine(13 * n) >> 2); }},
      {"swelling tone", [](auto n) { return (sine(20 * n) * (sine(n) + 32768)) >> 17; }},
      {"dying tone", [](auto n) { return sine(20 * n) >> (n / 250); }},
      {"tone in a little noise", [&](auto n) { return (sine(20 * n) >> 1) + (one(n) >> 11); }},
      {"chirp", [](auto n) { return (sine((n * n) >> 7) * 22000) >> 15; }},
      {"square", [](auto n) { return n / 50 % 2 == 0 ? 16000 : -16000; }},
      {"full-scale square", [](auto n) { return n / 37 % 2 == 0 ? 32767 : -32768; }},
      {"saw", [](auto n) { return 500 * (n % 97) - 24000; }},
      {"step", [](auto n) { return n > 1500 ? 20000 : 0; }},
      {"offset", [](auto /*n*/) { return -32768; }},
      {"clicks", [](auto n) { return n % 1100 == 0 ? 29000 : 0; }},
      {"impulse", [](auto n) { return n == 1400 ? 32767 : 0; }},
      {"silence", [](auto /*n*/) { return 0; }},
      {"noise", one},
      {"other noise", two},
      {"noise between silences", [&](auto n) { return n >= 900 && n < 2100 ? three(n) : 0; }},
      {"burst", [&](auto n) { return n >= 1300 && n < 1600 ? 2 * four(n) : 0; }},
      {"faint noise", [&](auto n) { return two(n) >> 12; }},
      {"last bit", [&](auto n) { return three(n) >> 14; }},
  };
  std::map<std::string, Samples> signals{{"wandering", wandering(one)},
                                         {"other wandering", wandering(four)}};
  for (const auto& [name, value] : values) signals[name] = each_sample(value);
  return signals;
}

}  // namespace stoker
