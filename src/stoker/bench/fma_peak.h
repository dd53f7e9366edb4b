// How many multiply-adds one core does now: the limit of arithmetic code, and a gauge of noise.
#pragma once

#include "stoker/base/simd_level.h"

namespace stoker::bench {

// GFLOP/s of one short burst of independent multiply-adds; two operations
// each. About 90 microseconds: long enough for the core to wake its widest units. The best of many
// bursts is the core's peak; how far the middle one lies below it says how busy the machine is.
double fma_burst_gflops(SimdLevel level);

}  // namespace stoker::bench
