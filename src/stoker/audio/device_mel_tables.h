// The tables that GPU log-mel kernels read, in the order in which their lanes read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stoker/audio/mel_filterbank.h"
#include "stoker/config/mel_recipe.h"

namespace stoker::audio {

// The recipe's window times `sample_scale` and its waveform scale.
std::vector<float> window_table(const config::MelRecipe& recipe, double sample_scale);

// The 1024-point kernels' windows: [8][32 lanes] of w[n], w[n+512], w[n+32], w[n+544] with
// n = lane + 64*j; zeros after a shorter window.
std::vector<float> lane_window_table(const config::MelRecipe& recipe, double sample_scale);

// Their second stage's twiddles: [8][32 lanes] of two complex numbers each. Lane l works on row
// k1 = l, or l-16 above 16; its number at length/4 + m (0 for length 2) is
// exp(-2*pi*i * (k1/(32*length) + m/length)).
std::vector<float> lane_twiddle_table();

// exp(-2*pi*i*k/n), k = 0 ... n-1, as pairs.
std::vector<float> root_table(std::int64_t n);

// First bins of the num_mels + 1 segments and their end, none beyond `end_bin`.
std::vector<std::int32_t> segment_firsts(const MelBands& bands, std::size_t end_bin);

}  // namespace stoker::audio
