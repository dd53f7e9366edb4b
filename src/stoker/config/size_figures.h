// What each model size costs. Written by `python3 -m tools.make_pages` from
// bench/results/train-sizes.json, which bench/train_sizes.py measures.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace stoker::config {

struct SizeFigures {
  std::uint64_t num_parameters;
  std::uint64_t peak_mib;  // most memory of the process
  double step_ms;          // median
};

// In the order of ModelSize.
inline constexpr std::array<SizeFigures, 4> kSizeFigures{{
    {2960833, 459, 162.6},
    {12176657, 1259, 1089.7},
    {45513361, 2863, 4450.9},
    {116263697, 5465, 9139.0},
}};
inline constexpr std::string_view kSizeFiguresSource =
    "2026-11-17, AMD EPYC, 2 cores, 4,000 frames a batch";

}  // namespace stoker::config
