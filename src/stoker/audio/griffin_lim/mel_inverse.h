// Undoes what a mel recipe does after its filters: output scaling, logarithm and floor.
#pragma once

#include <cstddef>
#include <span>

#include "stoker/audio/mel/exact_exp.h"
#include "stoker/base/result.h"
#include "stoker/config/mel_recipe.h"

namespace stoker::audio {

// Whether the steps after the filters can be undone. E-MEL-INVERT names the one that cannot.
Result<void> check_invertible(const config::MelRecipe& recipe);

// The steps, in a form that a GPU kernel takes along.
struct MelUndo {
  config::MelLog log;
  double out_scale;
  double out_offset;
  double added;  // to every band before the logarithm
};
MelUndo mel_undo(const config::MelRecipe& recipe);

// One value, its channel divisor already undone, to the filter's output; never below a small
// positive number. Equal bits on every CPU and GPU.
constexpr float mel_energy(const MelUndo& undo, double value) {
  constexpr double kLeast = 1e-12;
  double energy = value / undo.out_scale - undo.out_offset;
  if (undo.log == config::MelLog::kLn) energy = exact_exp(energy);
  if (undo.log == config::MelLog::kLog10) energy = exact_exp10(energy);
  if (undo.log == config::MelLog::kDb) energy = exact_exp10(energy / 10.0);
  energy -= undo.added;
  return static_cast<float>(energy > kLeast ? energy : kLeast);
}

// One frame of them.
void mel_energies(const config::MelRecipe& recipe, std::span<const float> frame,
                  std::span<float> out) noexcept;

}  // namespace stoker::audio
