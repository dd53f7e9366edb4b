// What a file of the original leaves unsaid: its own defaults, also where ours are equal today.
#pragma once

#include <span>
#include <string_view>
#include <utility>

namespace stoker::config {

// Pairs of our path and the value as it would be written.
std::span<const std::pair<std::string_view, std::string_view>> original_defaults();

}  // namespace stoker::config
