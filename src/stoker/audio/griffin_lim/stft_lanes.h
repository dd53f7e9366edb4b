// Short-time Fourier transforms of many frames, sixteen side by side, for work that goes there and
// back.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stoker/audio/griffin_lim/lane_fft.h"
#include "stoker/config/mel_recipe.h"

namespace stoker::audio {

// Two real frames share a lane of the complex FFT, one as real and one as imaginary part.
inline constexpr std::size_t kFrameLanes = 2 * kFftLanes;

// Spectra of kFrameLanes frames: value of bin k and lane l at [k * kFrameLanes + l].
struct BlockSpectrum {
  float* real;
  float* imaginary;
  std::size_t num_frames = kFrameLanes;  // the first ones; overlap_add() leaves out the others
};

// Immutable. Works on a signal that is already padded as the recipe frames it: frame t begins at t
// * hop.
class StftLanes {
 public:
  StftLanes(const config::MelRecipe& recipe, SimdLevel level);

  struct Scratch {
    std::vector<float> a_real, a_imaginary, b_real, b_imaginary;
  };
  Scratch make_scratch() const;

  std::size_t num_bins() const noexcept { return fft_.num_points() / 2 + 1; }
  std::size_t num_points() const noexcept { return fft_.num_points(); }
  std::size_t hop_samples() const noexcept { return hop_samples_; }
  std::span<const float> window() const noexcept { return window_; }
  std::span<const float> synthesis_window() const noexcept { return synthesis_window_; }
  const LaneFft& fft() const noexcept { return fft_; }

  // Spectra of frames [first_frame, first_frame + kFrameLanes); precondition: the signal holds them
  // all.
  void analyse(std::span<const float> signal, std::size_t first_frame, BlockSpectrum out,
               Scratch& scratch) const;

  // Adds the windowed frames of the spectra to the signal.
  void overlap_add(BlockSpectrum in, std::size_t first_frame, std::span<float> signal,
                   Scratch& scratch) const;

 private:
  LaneFft fft_;
  std::size_t hop_samples_;
  std::vector<float> window_;            // n_fft long, zero beyond the recipe's window
  std::vector<float> synthesis_window_;  // the same, divided by n_fft
};

}  // namespace stoker::audio
