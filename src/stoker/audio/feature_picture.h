// Log-mel frames as a picture with axes: time in seconds, mel bands, and a colour scale with its
// unit.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "stoker/audio/feature_file.h"
#include "stoker/base/report/heat_map.h"
#include "stoker/config/mel_recipe.h"

namespace stoker::audio {

// Low bands at the bottom, brighter is louder.
class FeaturePicture {
 public:
  // `features` hold at least one frame, made by `recipe`.
  FeaturePicture(const FileFeatures& features, const config::MelRecipe& recipe, std::string title);

  std::string svg(unsigned width = ChartFrame{}.width) const;
  std::vector<std::byte> png() const;

 private:
  HeatMap map() const;

  ChartFrame frame_;
  std::string unit_;
  std::size_t num_frames_;
  std::size_t num_mels_;
  std::vector<float> by_band_;  // [mels, frames]
};

}  // namespace stoker::audio
