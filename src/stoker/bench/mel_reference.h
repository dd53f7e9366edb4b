// Log-mel by its definition in f64, slow and obvious: what every fast kernel is compared with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stoker/config/mel_recipe.h"

namespace stoker::bench {

struct MelReference {
  std::size_t num_frames = 0;
  std::size_t num_mels = 0;
  std::vector<double> linear;  // [frames, mels] before floor and logarithm
  std::vector<double> values;  // [frames, mels]
};

// `samples` are in -1..1. Direct sums: about a millisecond a frame.
MelReference mel_reference(const config::MelRecipe& recipe, std::span<const double> samples);

// int16 / 32768.
std::vector<double> unit_samples(std::span<const std::int16_t> samples);

// How far f32 results are from the reference.
struct MelDifference {
  double largest_loud = 0;    // |difference| where the linear value is above 1e-3
  double largest_middle = 0;  // above 3e-4
  double largest_quiet = 0;   // elsewhere
  double mean = 0;
  double largest_relative = 0;  // recipes without a logarithm: |difference| / the frame's largest
};

MelDifference compare_mel(const config::MelRecipe& recipe, const MelReference& reference,
                          std::span<const float> values);

// 1e-4, 3e-4, 5e-3, mean 1e-5; 2e-6 without a logarithm.
bool within_tolerance(const config::MelRecipe& recipe, const MelDifference& difference);

}  // namespace stoker::bench
