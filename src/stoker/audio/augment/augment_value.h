// The draws and the arithmetic of one augmented utterance, written once for both back ends.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "stoker/audio/augment/augment_batch.h"
#include "stoker/audio/mel/exact_exp.h"
#include "stoker/audio/pcm16.h"
#include "stoker/base/philox.h"

namespace stoker::audio {

// A gain in dB, uniform in the range.
constexpr double gain_db_from(KeyedDraws draws, const Range& gain_db) noexcept {
  return draws.next_between(gain_db.low, gain_db.high);
}

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
constexpr NoiseDraw noise_from(KeyedDraws draws, const NoiseRule& rule) noexcept {
  NoiseDraw draw;
  draw.is_mixed = draws.next_unit() < rule.probability && rule.num_noises > 0;
  if (!draw.is_mixed) return draw;
  draw.noise_index = draws.next_below(rule.num_noises);
  draw.start = draws.next_unit();
  draw.snr_db = draws.next_between(rule.snr_db.low, rule.snr_db.high);
  return draw;
}

struct AugmentKeys {
  PhiloxKey gain;
  PhiloxKey noise;
};
inline AugmentKeys augment_keys(std::uint64_t seed) {
  return {philox_key(seed, "gain"), philox_key(seed, "noise")};
}

// What was drawn for an utterance, and the powers that the share of the noise depends on: sums of
// squares of whole numbers, exact in any order.
struct AugmentChange {
  double gain;
  double noise_over_speech;  // amplitude, before the powers are known
  std::int32_t noise;        // -1: none
  std::int32_t noise_first;
  std::uint64_t speech_power;
  std::uint64_t noise_power;
};

constexpr AugmentChange drawn_change(const AugmentRule& rule, const AugmentKeys& keys,
                                     const NoiseBank& bank, std::uint64_t utterance) {
  const double gain_db = gain_db_from({keys.gain, rule.epoch, utterance}, rule.gain_db);
  const NoiseDraw draw =
      noise_from({keys.noise, rule.epoch, utterance},
                 {rule.noise_probability, rule.snr_db, static_cast<std::size_t>(bank.num_noises)});
  AugmentChange change{amplitude_of_db(gain_db), 0, -1, 0, 0, 0};
  if (!draw.is_mixed) return change;
  const std::int32_t length = bank.lengths[draw.noise_index];
  if (length <= 0) return change;
  const auto first = static_cast<std::int64_t>(draw.start * length);
  change.noise_over_speech = amplitude_of_db(-draw.snr_db);
  change.noise = static_cast<std::int32_t>(draw.noise_index);
  change.noise_first = static_cast<std::int32_t>(first < length ? first : 0);
  return change;
}

// The drawn piece of noise, repeated as needed.
struct NoisePiece {
  const std::int16_t* samples;
  std::int32_t length;
  std::int32_t first;

  constexpr std::int16_t at(std::int32_t sample) const {
    return samples[(static_cast<std::int64_t>(first) + sample) % length];
  }
};
constexpr NoisePiece piece_of(const NoiseBank& bank, const AugmentChange& change) {
  return {bank.samples + bank.begins[change.noise], bank.lengths[change.noise], change.noise_first};
}

constexpr std::uint64_t square_of(std::int16_t sample) {
  const std::int32_t square = std::int32_t{sample} * sample;
  return static_cast<std::uint64_t>(square);
}

struct AugmentFactors {
  float gain;
  float share;  // of the noise; 0: none
};

constexpr AugmentFactors factors_of(const AugmentChange& change) {
  const auto gain = static_cast<float>(change.gain);
  if (change.noise < 0 || change.speech_power == 0 || change.noise_power == 0) return {gain, 0};
  const double ratio =
      static_cast<double>(change.speech_power) / static_cast<double>(change.noise_power);
  return {gain, static_cast<float>(std::sqrt(ratio) * change.noise_over_speech * change.gain)};
}

constexpr float sample_value(std::int16_t sample) { return static_cast<float>(sample) * 0x1p-15F; }

constexpr float mixed_value(const AugmentFactors& factors, std::int16_t speech,
                            std::int16_t noise) {
  return factors.gain * sample_value(speech) + factors.share * sample_value(noise);
}

}  // namespace stoker::audio
