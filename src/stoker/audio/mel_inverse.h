// Undoes what a mel recipe does after its filters: output scaling, logarithm and floor.
#pragma once

#include <cstddef>
#include <span>

#include "stoker/base/result.h"
#include "stoker/config/mel_recipe.h"

namespace stoker::audio {

// Whether the steps after the filters can be undone. E-MEL-INVERT names the one that cannot.
Result<void> check_invertible(const config::MelRecipe& recipe);

// One frame: recipe values to the filters' output, never below a small positive number.
void mel_energies(const config::MelRecipe& recipe, std::span<const float> frame,
                  std::span<float> out) noexcept;

}  // namespace stoker::audio
