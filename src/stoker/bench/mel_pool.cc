#include "stoker/bench/mel_pool.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stoker/base/thread/parallel.h"

namespace stoker::bench {
namespace {

constexpr std::size_t kVoices = 64;
constexpr double kRateHz = 22050.0;
constexpr double kShortestS = 1.1;
constexpr double kLongestS = 10.1;
constexpr std::size_t kMostSkipped = 200;  // utterances of one voice begin at different samples
constexpr auto kVoiceSamples = static_cast<std::size_t>(kLongestS * kRateHz) + kMostSkipped + 16;

std::uint64_t next_draw(std::uint64_t& state) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return state >> 11U;
}

// A buzz with many harmonics in syllables, above breath.
std::vector<std::int16_t> make_voice(std::size_t voice) {
  std::vector<std::int16_t> samples(kVoiceSamples);
  std::uint64_t state = 2 * voice + 1;
  const auto turn = static_cast<double>(voice);
  double phase = 0.0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double t = static_cast<double>(i) / kRateHz;
    const double breath = static_cast<double>(next_draw(state)) * 0x1p-52 - 1.0;
    phase += 2.0 * std::numbers::pi * (115.0 + 25.0 * std::sin(2.3 * t + turn)) / kRateHz;
    const double buzz = 0.2 * std::sin(phase) / (1.05 - std::cos(phase));
    const double x = 0.8 * buzz * std::max(0.0, std::sin(9.4 * t + turn)) + 0.004 * breath;
    samples[i] = static_cast<std::int16_t>(std::lround(std::clamp(x, -1.0, 1.0) * 32767.0));
  }
  return samples;
}

std::vector<std::vector<std::int16_t>> make_voices(std::size_t num_threads) {
  std::vector<std::vector<std::int16_t>> voices(kVoices);
  run_parallel(static_cast<unsigned>(num_threads), kVoices,
               [&](std::size_t voice) { voices[voice] = make_voice(voice); });
  return voices;
}

// Skewed towards the long end, as read speech is.
std::int32_t draw_length(std::uint64_t& state) {
  const double u = static_cast<double>(next_draw(state)) * 0x1p-53;
  const double length_s = kShortestS + (kLongestS - kShortestS) * (0.6 * std::sqrt(u) + 0.4 * u);
  return static_cast<std::int32_t>(length_s * kRateHz);
}

}  // namespace

MelPool::MelPool(std::size_t num_utterances, std::size_t num_threads) {
  const auto voices = make_voices(std::max<std::size_t>(num_threads, 1));
  std::uint64_t state = 77;
  std::size_t end = 0;
  for (std::size_t u = 0; u < num_utterances; ++u) {
    begins.push_back(static_cast<std::int64_t>(end));
    lengths.push_back(draw_length(state));
    longest_samples = std::max(longest_samples, static_cast<std::size_t>(lengths.back()));
    end += (static_cast<std::size_t>(lengths.back()) + 7) / 8 * 8;
  }
  samples.resize(end);
  for (std::size_t u = 0; u < num_utterances; ++u) {
    const auto* const from = voices[u % kVoices].data() + u * 37 % kMostSkipped;
    std::copy_n(from, lengths[u], samples.data() + begins[u]);
  }
}

}  // namespace stoker::bench
