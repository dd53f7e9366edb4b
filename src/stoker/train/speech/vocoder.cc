#include "stoker/train/speech/vocoder.h"

#include <utility>

#include "stoker/audio/griffin_lim/griffin_lim.h"

namespace stoker::train {
namespace {

constexpr std::size_t kNumIterations = 60;

class GriffinLimVocoder final : public Vocoder {
 public:
  GriffinLimVocoder(audio::GriffinLim inverse, std::size_t num_mels)
      : inverse_(std::move(inverse)), num_mels_(num_mels) {}

  std::vector<float> to_samples(std::span<const float> log_mel) const override {
    std::vector<float> samples(inverse_.num_samples(log_mel.size() / num_mels_));
    audio::GriffinLim::Workspace workspace;
    inverse_.run(log_mel, samples, workspace);
    return samples;
  }

 private:
  audio::GriffinLim inverse_;
  std::size_t num_mels_;
};

}  // namespace

Result<std::unique_ptr<Vocoder>> make_griffin_lim_vocoder(const config::MelRecipe& recipe) {
  Result<SimdLevel> level = simd_level();
  if (!level) return std::move(level).error();
  Result<audio::GriffinLim> inverse =
      audio::GriffinLim::make(recipe, {.num_iterations = kNumIterations}, *level);
  if (!inverse) return std::move(inverse).error();
  return std::unique_ptr<Vocoder>(std::make_unique<GriffinLimVocoder>(
      std::move(*inverse), static_cast<std::size_t>(recipe.num_mels)));
}

}  // namespace stoker::train
