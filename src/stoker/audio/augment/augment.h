// Changes to a waveform that are drawn anew each epoch; every draw is keyed, so a resume hears the
// same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "stoker/base/philox.h"

namespace stoker::audio {

struct Range {
  double low = 0;
  double high = 0;
};

// Which utterance in which epoch the draws belong to.
struct AugmentKey {
  std::uint64_t seed = kDefaultSeed;
  std::uint64_t epoch = 0;
  std::uint64_t utterance = 0;  // hash64(id)
};

// A gain in dB, uniform in the range.
double draw_gain_db(const AugmentKey& key, const Range& gain_db) noexcept;

// A speed factor, uniform in the range; 1.1 is ten percent faster and higher. Use it as the ratio
// of a Resampler: speed_rates() gives the two rates.
double draw_speed(const AugmentKey& key, const Range& speed) noexcept;
struct SpeedRates {
  std::uint32_t from_hz;
  std::uint32_t to_hz;
};
SpeedRates speed_rates(double speed) noexcept;

// Which piece of which noise, at which signal-to-noise ratio; `is_mixed` with the given
// probability.
struct NoiseDraw {
  bool is_mixed = false;
  std::size_t noise_index = 0;
  double start = 0;  // share of the noise's length, [0, 1)
  double snr_db = 0;
};
struct NoiseRule {
  double probability = 0.3;
  Range snr_db{10, 30};
  std::size_t num_noises = 1;
};
NoiseDraw draw_noise(const AugmentKey& key, const NoiseRule& rule) noexcept;

// The same two from a stream of draws already keyed, also inside a kernel.
constexpr double gain_db_from(KeyedDraws draws, const Range& gain_db) noexcept {
  return draws.next_between(gain_db.low, gain_db.high);
}
constexpr NoiseDraw noise_from(KeyedDraws draws, const NoiseRule& rule) noexcept {
  NoiseDraw draw;
  draw.is_mixed = draws.next_unit() < rule.probability && rule.num_noises > 0;
  if (!draw.is_mixed) return draw;
  draw.noise_index = draws.next_below(rule.num_noises);
  draw.start = draws.next_unit();
  draw.snr_db = draws.next_between(rule.snr_db.low, rule.snr_db.high);
  return draw;
}

// Adds `noise`, repeated as needed from `first`, so that speech power over noise power is snr_db.
// Returns false and changes nothing when either is silent: the ratio is undefined. Precondition:
// noise is not empty.
bool mix_at_snr(std::span<float> speech, std::span<const float> noise, std::size_t first,
                double snr_db) noexcept;

}  // namespace stoker::audio
