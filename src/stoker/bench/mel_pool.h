// A pool of ragged utterances larger than any cache, the same on every machine, for GPU benchmarks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stoker::bench {

// 2,048 of them: 585 MB of int16, 1.1 to 10.1 s, 6.5 s on average at 22,050 Hz.
inline constexpr std::size_t kPoolUtterances = 2048;

struct MelPool {
  // `num_threads` make the voices; the samples do not depend on it.
  MelPool(std::size_t num_utterances, std::size_t num_threads);

  std::span<const std::int16_t> utterance(std::size_t index) const {
    return std::span(samples).subspan(static_cast<std::size_t>(begins[index]),
                                      static_cast<std::size_t>(lengths[index]));
  }

  std::vector<std::int16_t> samples;
  std::vector<std::int64_t> begins;  // multiples of 8
  std::vector<std::int32_t> lengths;
  std::size_t longest_samples = 0;
};

}  // namespace stoker::bench
