// What both back ends of Griffin-Lim share: the tables of a recipe, and the arithmetic of one bin,
// written once so that CPU and GPU give the same bytes.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "stoker/audio/griffin_lim/griffin_lim.h"
#include "stoker/audio/griffin_lim/stft_lanes.h"

namespace stoker::audio {

// One weight of the sparse filters: of a bin in its band, or of a band in its bin.
struct MelWeight {
  std::uint32_t at;
  float value;
};

inline constexpr float kTinyPower = 1e-20F;
inline constexpr float kUnheardMagnitude = 1e-4F;  // largest in bins that no band covers
inline constexpr float kMaxBandRatio = 1e3F;
inline constexpr float kLeastEnvelope = 1e-3F;
inline constexpr std::size_t kPhaseAngles = 4096;
inline constexpr std::string_view kPhaseStage = "griffin-lim";

struct BinUpdate {
  float momentum;
  float epsilon;
  bool is_power;
};

struct alignas(8) BinValue {
  float real;
  float imaginary;
};

constexpr float bin_magnitude(const BinValue& now, const BinUpdate& how) {
  const float power = now.real * now.real + now.imaginary * now.imaginary + how.epsilon;
  return how.is_power ? power : std::sqrt(power);
}

constexpr float band_ratio(float wanted, float found) {
  const float ratio = wanted / (found > kTinyPower ? found : kTinyPower);
  const float floored = ratio < 1.0F / kMaxBandRatio ? 1.0F / kMaxBandRatio : ratio;
  return floored > kMaxBandRatio ? kMaxBandRatio : floored;
}

// A bin that no band covers stays too quiet to be heard.
constexpr float unheard(float magnitude) {
  return magnitude < kUnheardMagnitude ? magnitude : kUnheardMagnitude;
}

// Undoes the windows, whose squares add up to `sum` at a sample.
constexpr float inverse_envelope(float sum) {
  return 1.0F / (sum > kLeastEnvelope ? sum : kLeastEnvelope);
}

// What one bin of one frame becomes: `scaled` is its new magnitude to the recipe's power, the phase
// comes from the spectrum and the one before.
constexpr BinValue turned_bin(const BinValue& now, const BinValue& seen, float scaled,
                              const BinUpdate& how) {
  const float re = now.real - how.momentum * seen.real;
  const float im = now.imaginary - how.momentum * seen.imaginary;
  const float magnitude = how.is_power ? std::sqrt(scaled) : scaled;
  const float turn = magnitude / std::sqrt(re * re + im * im + kTinyPower);
  return {re * turn, im * turn};
}

struct GriffinLimPlan {
  GriffinLimPlan(const config::MelRecipe& wanted, const GriffinLimOptions& how, SimdLevel level);

  std::size_t num_mels() const { return band_share.size(); }
  std::size_t block_values() const { return stft.num_bins() * kFrameLanes; }
  BinUpdate update() const;
  std::size_t num_samples(std::size_t num_frames) const;
  // Of the padded signal that so many frames are cut from, whole blocks of lanes.
  std::size_t signal_samples(std::size_t num_frames) const;

  config::MelRecipe recipe;
  GriffinLimOptions options;
  StftLanes stft;
  std::size_t padding;
  std::vector<std::uint32_t> bin_begin;  // weights of bin k: [bin_begin[k], bin_begin[k + 1])
  std::vector<MelWeight> weights;
  std::vector<float> bin_share;   // 1 / (sum of the bin's weights), 0 where no band covers it
  std::vector<float> band_share;  // 1 / (sum of the band's weights)
  std::vector<BinValue> circle;   // the kPhaseAngles first phases
};

}  // namespace stoker::audio
