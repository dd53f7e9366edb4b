// More voices than the data has: an utterance and its reference are stretched in frequency
// together, so that a model must hear how a voice sounds and cannot learn the speakers by heart
// (vocal tract length perturbation: Jaitly and Hinton, 2013). Here the pitch moves along, and the
// upper resonances may move a little more or less than it: people of one pitch differ in them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stoker/config/mel_recipe.h"

namespace stoker::train {

// Immutable; nothing is stretched by a default-made one.
class VoiceWarps {
 public:
  static constexpr std::uint32_t kNumStretches = 13;  // of the pitch
  static constexpr std::uint32_t kNumShifts = 5;      // of the upper resonances against it
  // Shift by shift; the one in the middle stretches nothing.
  static constexpr std::uint32_t kNumWarps = kNumStretches * kNumShifts;

  VoiceWarps() = default;
  // From 1 / (1 + most) to 1 + most, evenly in logarithm; shifts go half as far, and no frequency
  // is stretched by more than `most`.
  VoiceWarps(const config::MelRecipe& recipe, double most, std::uint64_t seed);

  bool is_empty() const { return places_.empty(); }
  std::uint32_t num_mels() const { return num_mels_; }
  // [kNumWarps, num_mels]: where in the mel that is there each band of the stretched one comes
  // from; what is between two bands is mixed of both.
  std::span<const float> places() const { return places_; }
  std::span<const float> places_of(std::uint32_t warp) const {
    return std::span(places_).subspan(std::size_t{warp} * num_mels_, num_mels_);
  }
  // Of a row, whatever became of the others.
  std::uint32_t draw(std::uint64_t batch_number, std::uint64_t row) const;

 private:
  std::vector<float> places_;
  std::uint32_t num_mels_ = 0;
  std::uint64_t seed_ = 0;
};

}  // namespace stoker::train
