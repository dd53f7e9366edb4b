// Grids of settings that benchmarks run over: every combination is a row, and the rows are ranked.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/bench/rate_compare.h"

namespace stoker::cli {

class CommandContext;

// A setting as people type it: its path ("data.num_workers"), or its option with or without the
// dashes ("num-workers", "num_workers", "--num-workers"). Throws E-BENCH-CHOICE with the nearest
// name.
std::string grid_path(std::string_view key);

// "num-workers=1,2" gives two values; every combination of all grids is one list of changes
// ("data.num_workers=1"). Throws E-BENCH-CHOICE.
std::vector<std::vector<std::string>> combinations(const std::vector<std::string>& grids);

// The rows of a benchmark, best first, where there are several: which settings, how fast, and how
// sure. `unit` is what they are ranked by: "clips/s".
void put_ranking(CommandContext& context, const std::vector<bench::RankedRate>& ranking,
                 std::string_view unit);

// False where a row is surely slower than the bar allows.
bool put_differences(CommandContext& context, const std::vector<bench::RateDifference>& differences,
                     double bar, std::string_view unit);

// The report of an earlier run, read before anything is measured: what was measured for minutes
// must not end in a typing error. `command` made it ("bench feed"). Throws E-BENCH-CHOICE and what
// opening gives.
Json read_kept(const std::string& path, std::string_view command);

}  // namespace stoker::cli
