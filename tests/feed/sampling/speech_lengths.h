// Lengths like those of a read-speech corpus, for tests of the order: 1.1–10.1 s, mean 6.6 s.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "stoker/base/philox.h"
#include "stoker/feed/sampling/sampler_settings.h"

namespace stoker::feed {

// Frames of 256 samples at 22,050 Hz; longer utterances are commoner, as in LJSpeech.
inline std::vector<SampledUtterance> speech_like_rows(std::size_t num_rows,
                                                      std::uint64_t seed = 1) {
  KeyedDraws draws({seed, "test/lengths", 0, 0});
  std::vector<SampledUtterance> rows;
  rows.reserve(num_rows);
  for (std::size_t i = 0; i < num_rows; ++i) {
    // The larger of two draws rises linearly to the longest; its mean is two thirds of the way.
    const double share = std::max(draws.next_unit(), draws.next_unit());
    const double seconds = 1.1 + (10.1 - 1.1) * (0.08 * draws.next_unit() + 0.86 * share);
    const auto frames = static_cast<std::uint32_t>(seconds * 22050.0 / 256.0);
    const auto tokens =
        static_cast<std::uint32_t>(seconds * (11.0 + 6.0 * draws.next_unit()) + 3.0);
    rows.push_back({frames, tokens, 0});
  }
  return rows;
}

}  // namespace stoker::feed
