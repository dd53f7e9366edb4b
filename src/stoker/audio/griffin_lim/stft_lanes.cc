#include "stoker/audio/griffin_lim/stft_lanes.h"

#include <algorithm>

#include "stoker/audio/mel/mel_frame_grid.h"

namespace stoker::audio {
namespace {

// The recipe's window inside n_fft points: centred, or at the start where frames begin with their
// window.
std::vector<float> placed_window(const config::MelRecipe& recipe) {
  const std::vector<double> window = mel_window(recipe);
  const auto num_points = static_cast<std::size_t>(recipe.n_fft);
  const bool at_start = recipe.framing == config::MelFraming::kSnipEdges;
  const std::size_t first = at_start ? 0 : (num_points - window.size()) / 2;
  std::vector<float> placed(num_points, 0.0F);
  for (std::size_t i = 0; i < window.size(); ++i) placed[first + i] = static_cast<float>(window[i]);
  return placed;
}

}  // namespace

StftLanes::StftLanes(const config::MelRecipe& recipe, SimdLevel level)
    : fft_(static_cast<std::size_t>(recipe.n_fft), level),
      hop_samples_(static_cast<std::size_t>(recipe.hop_samples)),
      window_(placed_window(recipe)),
      synthesis_window_(window_) {
  for (float& value : synthesis_window_) value /= static_cast<float>(recipe.n_fft);
}

StftLanes::Scratch StftLanes::make_scratch() const {
  const std::vector<float> values(fft_.num_values());
  return {values, values, values, values};
}

void StftLanes::analyse(std::span<const float> signal, std::size_t first_frame, BlockSpectrum out,
                        Scratch& scratch) const {
  float* real = scratch.a_real.data();
  float* imaginary = scratch.a_imaginary.data();
  const float* early = signal.data() + first_frame * hop_samples_;
  const float* late = early + kFftLanes * hop_samples_;
  for (std::size_t i = 0; i < num_points(); ++i) {
    for (std::size_t l = 0; l < kFftLanes; ++l) {
      real[i * kFftLanes + l] = early[i + l * hop_samples_] * window_[i];
      imaginary[i * kFftLanes + l] = late[i + l * hop_samples_] * window_[i];
    }
  }
  fft_.forward({real, imaginary}, {scratch.b_real.data(), scratch.b_imaginary.data()});
  // With z = x + i y: X[k] = (Z[k] + conj Z[-k]) / 2 and Y[k] = (Z[k] - conj Z[-k]) / 2i.
  for (std::size_t k = 0; k < num_bins(); ++k) {
    const float* zr = real + k * kFftLanes;
    const float* zi = imaginary + k * kFftLanes;
    const float* mr = real + (num_points() - k) % num_points() * kFftLanes;
    const float* mi = imaginary + (num_points() - k) % num_points() * kFftLanes;
    float* out_real = out.real + k * kFrameLanes;
    float* out_imaginary = out.imaginary + k * kFrameLanes;
    for (std::size_t l = 0; l < kFftLanes; ++l) {
      out_real[l] = 0.5F * (zr[l] + mr[l]);
      out_imaginary[l] = 0.5F * (zi[l] - mi[l]);
      out_real[kFftLanes + l] = 0.5F * (zi[l] + mi[l]);
      out_imaginary[kFftLanes + l] = 0.5F * (mr[l] - zr[l]);
    }
  }
}

void StftLanes::overlap_add(BlockSpectrum in, std::size_t first_frame, std::span<float> signal,
                            Scratch& scratch) const {
  float* real = scratch.a_real.data();
  float* imaginary = scratch.a_imaginary.data();
  for (std::size_t k = 0; k < num_bins(); ++k) {
    const float* xr = in.real + k * kFrameLanes;
    const float* xi = in.imaginary + k * kFrameLanes;
    const std::size_t mirror = (num_points() - k) % num_points();
    const bool alone = mirror == k;  // the imaginary parts of bins 0 and n/2 cannot be heard
    for (std::size_t l = 0; l < kFftLanes; ++l) {
      const float early_im = alone ? 0.0F : xi[l];
      const float late_im = alone ? 0.0F : xi[kFftLanes + l];
      real[mirror * kFftLanes + l] = xr[l] + late_im;
      imaginary[mirror * kFftLanes + l] = xr[kFftLanes + l] - early_im;
      real[k * kFftLanes + l] = xr[l] - late_im;
      imaginary[k * kFftLanes + l] = early_im + xr[kFftLanes + l];
    }
  }
  fft_.backward({real, imaginary}, {scratch.b_real.data(), scratch.b_imaginary.data()});
  // Frame after frame, so that every sample is a sum in one order.
  for (std::size_t f = 0; f < in.num_frames; ++f) {
    const float* frame = f < kFftLanes ? real + f : imaginary + f - kFftLanes;
    float* to = signal.data() + (first_frame + f) * hop_samples_;
    for (std::size_t i = 0; i < num_points(); ++i)
      to[i] += frame[i * kFftLanes] * synthesis_window_[i];
  }
}

}  // namespace stoker::audio
