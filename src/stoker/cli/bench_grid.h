// Grids of settings that benchmarks run over: every combination is a row.
#pragma once

#include <string>
#include <vector>

namespace stoker::cli {

// "data.num_workers=1,2" gives two values; every combination of all grids is one list of changes.
// Throws E-BENCH-CHOICE.
std::vector<std::vector<std::string>> combinations(const std::vector<std::string>& grids);

}  // namespace stoker::cli
