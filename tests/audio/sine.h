// A pure tone, the signal whose level and shape are known.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace stoker::audio {

inline std::vector<float> sine(double hz, double amplitude, double seconds, double rate_hz) {
  std::vector<float> out(static_cast<std::size_t>(seconds * rate_hz));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] =
        static_cast<float>(amplitude * std::sin(2 * M_PI * hz * static_cast<double>(i) / rate_hz));
  return out;
}

}  // namespace stoker::audio
