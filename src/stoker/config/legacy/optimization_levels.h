// The named presets of optimiser and schedule behind training.optimization_level.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/config/choices.h"

namespace stoker::config {

using LevelValue = std::pair<std::string_view, std::string_view>;  // path and value as written

// What the level sets for a model of that size; empty for none.
std::vector<LevelValue> level_values(OptimizationLevel level, ModelSize size);

}  // namespace stoker::config
