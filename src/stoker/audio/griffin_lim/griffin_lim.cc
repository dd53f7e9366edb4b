#include "stoker/audio/griffin_lim/griffin_lim.h"

#include <numbers>

#include "stoker/audio/griffin_lim/griffin_lim_plan.h"
#include "stoker/audio/griffin_lim/mel_inverse.h"
#include "stoker/audio/mel/mel_filterbank.h"

namespace stoker::audio {
namespace {

std::size_t padding_of(const config::MelRecipe& recipe) {
  const auto n_fft = static_cast<std::size_t>(recipe.n_fft);
  switch (recipe.framing) {
    case config::MelFraming::kSame:
      return (n_fft - static_cast<std::size_t>(recipe.hop_samples)) / 2;
    case config::MelFraming::kCenter:
      return n_fft / 2;
    case config::MelFraming::kPadEnd:
    case config::MelFraming::kSnipEdges:
      break;
  }
  return 0;
}

std::vector<BinValue> phase_circle() {
  std::vector<BinValue> circle(kPhaseAngles);
  for (std::size_t i = 0; i < kPhaseAngles; ++i) {
    const double angle = 2.0 * std::numbers::pi * static_cast<double>(i) / kPhaseAngles;
    circle[i] = {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
  }
  return circle;
}

}  // namespace

GriffinLimPlan::GriffinLimPlan(const config::MelRecipe& wanted, const GriffinLimOptions& how,
                               SimdLevel level)
    : recipe(wanted),
      options(how),
      stft(wanted, level),
      padding(padding_of(wanted)),
      circle(phase_circle()) {
  const std::vector<float> dense = mel_filterbank(recipe);
  const std::size_t num_bins = stft.num_bins();
  const auto num_mels = static_cast<std::size_t>(recipe.num_mels);
  std::vector<double> band_sum(num_mels, 0.0);
  for (std::size_t k = 0; k < num_bins; ++k) {
    bin_begin.push_back(static_cast<std::uint32_t>(weights.size()));
    double bin_sum = 0;
    for (std::size_t band = 0; band < num_mels; ++band) {
      const float value = dense[band * num_bins + k];
      if (value == 0) continue;
      weights.push_back({static_cast<std::uint32_t>(band), value});
      bin_sum += value;
      band_sum[band] += value;
    }
    bin_share.push_back(bin_sum > 0 ? static_cast<float>(1.0 / bin_sum) : 0.0F);
  }
  bin_begin.push_back(static_cast<std::uint32_t>(weights.size()));
  for (const double sum : band_sum)
    band_share.push_back(sum > 0 ? static_cast<float>(1.0 / sum) : 0.0F);
}

BinUpdate GriffinLimPlan::update() const {
  return {static_cast<float>(options.momentum / (1.0 + options.momentum)),
          static_cast<float>(recipe.magnitude_epsilon), recipe.power == 2};
}

std::size_t GriffinLimPlan::signal_samples(std::size_t num_frames) const {
  const std::size_t whole_blocks = (num_frames + kFrameLanes - 1) / kFrameLanes * kFrameLanes;
  return (whole_blocks - 1) * stft.hop_samples() + stft.num_points() + padding;
}

std::size_t GriffinLimPlan::num_samples(std::size_t num_frames) const {
  if (num_frames == 0) return 0;
  const auto hop = static_cast<std::size_t>(recipe.hop_samples);
  switch (recipe.framing) {
    case config::MelFraming::kCenter:
      return (num_frames - 1 + static_cast<std::size_t>(recipe.drop_last_frames)) * hop;
    case config::MelFraming::kSnipEdges:
      return (num_frames - 1) * hop + static_cast<std::size_t>(recipe.win_samples);
    case config::MelFraming::kSame:
    case config::MelFraming::kPadEnd:
      break;
  }
  return num_frames * hop;
}

GriffinLim::GriffinLim(std::unique_ptr<const GriffinLimPlan> plan) : plan_(std::move(plan)) {}
GriffinLim::GriffinLim(GriffinLim&&) noexcept = default;
GriffinLim& GriffinLim::operator=(GriffinLim&&) noexcept = default;
GriffinLim::~GriffinLim() = default;

Result<GriffinLim> GriffinLim::make(const config::MelRecipe& recipe,
                                    const GriffinLimOptions& options, SimdLevel level) {
  if (Result<void> invertible = check_invertible(recipe); !invertible) return invertible.error();
  return GriffinLim(std::make_unique<const GriffinLimPlan>(recipe, options, level));
}

std::size_t GriffinLim::num_samples(std::size_t num_frames) const noexcept {
  return plan_->num_samples(num_frames);
}

}  // namespace stoker::audio
