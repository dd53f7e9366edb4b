// What training.model_size brings along: a small model learns in minutes from small batches with a
// high rate, a large one needs large batches and a long warm-up.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "stoker/config/choices.h"

namespace stoker::config {

// Paths of settings and their values as a file would write them; none for the default size, whose
// values are the defaults. Weaker than a level and than every value that is given; files of myxtts
// have their own defaults instead.
std::vector<std::pair<std::string_view, std::string_view>> size_values(ModelSize size);

}  // namespace stoker::config
