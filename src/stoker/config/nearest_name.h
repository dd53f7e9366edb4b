// Finds the name a typing mistake was probably meant to be.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stoker::config {

// The candidate with the fewest edits (insert, delete, change, swap of neighbours) from `name`, or
// nothing when even the best differs in more than a third of its letters.
std::optional<std::string> nearest_name(std::string_view name,
                                        std::span<const std::string> candidates);

}  // namespace stoker::config
