// What a benchmark finds wrong with itself.
#pragma once

#include <array>

#include "stoker/base/error.h"

namespace stoker::bench {

inline constexpr ErrorCode kBenchWrong{
    "E-BENCH-WRONG", ExitCode::kCheckFailed,
    "The output that was being timed is not what it should be; no speed is printed.",
    "please report this with the machine and the value of STOKER_SIMD"};

inline constexpr std::array kErrorCodes{&kBenchWrong};

}  // namespace stoker::bench
