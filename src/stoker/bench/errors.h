// What a benchmark finds wrong with itself.
#pragma once

#include <array>

#include "stoker/base/error.h"

namespace stoker::bench {

inline constexpr ErrorCode kBenchWrong{
    "E-BENCH-WRONG", ExitCode::kCheckFailed,
    "The output that was being timed is not what it should be; no speed is printed.",
    "please report this with the machine and the value of STOKER_SIMD"};
inline constexpr ErrorCode kBenchChoice{
    "E-BENCH-CHOICE", ExitCode::kUsage,
    "A loader, path or grid of the benchmark is not one that exists here.",
    "`stoker bench feed --help` and `stoker bench train --help` list them"};
inline constexpr ErrorCode kBenchNothing{
    "E-BENCH-NOTHING", ExitCode::kCheckFailed,
    "The consumer got too few batches within a window for any figure.",
    "give more --seconds, or fewer windows (--repeat)"};
inline constexpr ErrorCode kBenchPeers{
    "E-BENCH-PEERS", ExitCode::kUsage,
    "The race against other loaders could not be run: its drivers are part of the source tree.",
    "run it from a checkout: build/stoker bench peers, or make peers"};

inline constexpr ErrorCode kBenchCache{
    "E-BENCH-CACHE", ExitCode::kUsage,
    "The folder holds a cache that the benchmark did not make; it measures records of one known "
    "shape.",
    "name an empty or absent folder, which is filled, or one that `stoker bench cache` made"};

inline constexpr ErrorCode kSelftest{
    "E-SELFTEST", ExitCode::kCheckFailed,
    "A check of `stoker selftest` found something else than it should.",
    "do what its help line says, then run `stoker selftest` again"};

inline constexpr std::array kErrorCodes{&kBenchWrong, &kBenchChoice, &kBenchNothing,
                                        &kBenchPeers, &kBenchCache,  &kSelftest};

}  // namespace stoker::bench
