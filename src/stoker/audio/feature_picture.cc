#include "stoker/audio/feature_picture.h"

#include <fmt/format.h>

#include <utility>

namespace stoker::audio {
namespace {

// What a value of the recipe is, before offset and scale change its unit.
std::string unit_of(const config::MelRecipe& recipe) {
  const bool is_rescaled = recipe.range == config::MelRange::kMinMax || recipe.out_offset != 0.0 ||
                           recipe.out_scale != 1.0 || !recipe.channel_divisors.empty();
  if (is_rescaled) return "normalised log";
  const std::string_view of = recipe.power == 2 ? "power" : "magnitude";
  switch (recipe.log) {
    case config::MelLog::kDb:
      return "dB";
    case config::MelLog::kLn:
      return fmt::format("ln {}", of);
    case config::MelLog::kLog10:
      return fmt::format("log10 {}", of);
    case config::MelLog::kNone:
      break;
  }
  return std::string(of);
}

}  // namespace

FeaturePicture::FeaturePicture(const FileFeatures& features, const config::MelRecipe& recipe,
                               std::string title)
    : unit_(unit_of(recipe)),
      num_frames_(features.num_frames),
      num_mels_(features.num_mels),
      by_band_(features.values.size()) {
  const double seconds = static_cast<double>(num_frames_) *
                         static_cast<double>(recipe.hop_samples) /
                         static_cast<double>(recipe.sample_rate_hz);
  frame_ = {.title = std::move(title),
            .description = "Energy of each mel band over time.",
            .x = {.label = "time (s)", .low = 0.0, .high = seconds},
            .y = {.label = "mel band"},
            .height = 300};
  for (std::size_t t = 0; t < num_frames_; ++t)
    for (std::size_t band = 0; band < num_mels_; ++band)
      by_band_[band * num_frames_ + t] = features.values[t * num_mels_ + band];
}

HeatMap FeaturePicture::map() const {
  return {
      .num_columns = num_frames_, .num_rows = num_mels_, .values = by_band_, .value_label = unit_};
}

std::string FeaturePicture::svg(unsigned width) const {
  ChartFrame frame = frame_;
  frame.width = width;
  return heat_map_chart(frame, map());
}

std::vector<std::byte> FeaturePicture::png() const { return heat_map_png(frame_, map()); }

}  // namespace stoker::audio
