#include "stoker/audio/augment/augment.h"

#include <cmath>

#include "stoker/audio/loudness.h"
#include "stoker/base/invariant.h"

namespace stoker::audio {
namespace {

KeyedDraws draws_for(const AugmentKey& key, std::string_view stage) {
  return KeyedDraws({key.seed, stage, key.epoch, key.utterance});
}

}  // namespace

double draw_gain_db(const AugmentKey& key, const Range& gain_db) noexcept {
  return gain_db_from(draws_for(key, "gain"), gain_db);
}

double draw_speed(const AugmentKey& key, const Range& speed) noexcept {
  return draws_for(key, "speed").next_between(speed.low, speed.high);
}

SpeedRates speed_rates(double speed) noexcept {
  constexpr double kSteps = 1000.0;  // a thousandth is finer than anyone hears
  return {static_cast<std::uint32_t>(std::lround(speed * kSteps)),
          static_cast<std::uint32_t>(kSteps)};
}

NoiseDraw draw_noise(const AugmentKey& key, const NoiseRule& rule) noexcept {
  return noise_from(draws_for(key, "noise"), rule);
}

bool mix_at_snr(std::span<float> speech, std::span<const float> noise, std::size_t first,
                double snr_db) noexcept {
  check_invariant(!noise.empty(), "mixing with an empty noise");
  double noise_power = 0;
  for (std::size_t i = 0; i < speech.size(); ++i) {
    const double value = noise[(first + i) % noise.size()];
    noise_power += value * value;
  }
  const double speech_rms = rms_of(speech);
  if (speech_rms == 0 || noise_power == 0) return false;
  const double noise_rms = std::sqrt(noise_power / static_cast<double>(speech.size()));
  const auto gain = static_cast<float>(speech_rms / noise_rms * std::pow(10.0, -snr_db / 20.0));
  for (std::size_t i = 0; i < speech.size(); ++i)
    speech[i] += gain * noise[(first + i) % noise.size()];
  return true;
}

}  // namespace stoker::audio
