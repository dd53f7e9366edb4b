// What is known of myxtts, as tables: its defaults, its optimization levels, and its names that
// have no meaning here.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/config/choices.h"

namespace stoker::config {

// A path of ours and the value as it would be written in a file.
using WrittenValue = std::pair<std::string_view, std::string_view>;

// What a file of myxtts leaves unsaid, also where our default is the same today: a default of ours
// may change, what such a file means may not.
std::span<const WrittenValue> myxtts_defaults();

// The preset of optimiser and schedule behind training.optimization_level: what the level sets for
// a model of that size; empty for none. A value that any source gives is stronger.
std::vector<WrittenValue> level_values(OptimizationLevel level, ModelSize size);

// Names of myxtts that have no meaning here, with the one line that says so.
struct MyxttsNotice {
  std::string_view section;
  std::string_view names;  // separated by spaces
  std::string_view notice;
};

std::span<const MyxttsNotice> myxtts_notices();

}  // namespace stoker::config
