// Which vector instructions to use: what the processor has, or less when STOKER_SIMD says so.
#pragma once

#include <optional>
#include <string_view>

#include "stoker/base/result.h"

namespace stoker {

enum class SimdLevel { kScalar, kAvx2, kAvx512, kNeon };

std::string_view simd_level_name(SimdLevel level) noexcept;  // "scalar", "avx2", "avx512", "neon"

// The best level of this processor. kAvx2 includes FMA and F16C; kAvx512 means F, BW, DQ, VL.
SimdLevel detect_simd_level() noexcept;

// The level that `setting` (the value of STOKER_SIMD) asks for; absent or "auto" = `best`.
// E-SIMD-LEVEL for an unknown name and for a level that `best` does not include.
Result<SimdLevel> choose_simd_level(std::optional<std::string_view> setting, SimdLevel best);

// The level of this process, from its processor and STOKER_SIMD.
Result<SimdLevel> simd_level();

}  // namespace stoker
