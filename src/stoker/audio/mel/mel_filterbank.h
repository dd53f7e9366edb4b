// Triangular mel filters: the dense matrix as librosa rounds it, and the sparse form kernels walk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stoker/config/mel_recipe.h"

namespace stoker::audio {

double hz_to_mel(config::MelScale scale, double hz);
double mel_to_hz(config::MelScale scale, double mel);

// [num_mels, n_fft/2+1]. The triangle is rounded to f32, multiplied by the norm in f64 and rounded
// again: bit-equal to librosa.filters.mel for the recipes librosa has.
std::vector<float> mel_filterbank(const config::MelRecipe& recipe);

// A bin is on the falling flank of one band and the rising flank of the next. Segment s holds the
// bins that fall in band s-1 and rise in band s; segments follow each other without a gap.
struct MelBands {
  std::size_t num_mels = 0;
  std::size_t first_bin = 0;
  std::size_t end_bin = 0;                  // bins first_bin .. end_bin-1 are needed
  std::vector<std::uint32_t> segment_bins;  // num_mels + 1 of them
  std::vector<float> weights;               // per bin: falling, rising
};

MelBands sparse_bands(const config::MelRecipe& recipe);

}  // namespace stoker::audio
