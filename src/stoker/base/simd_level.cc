#include "stoker/base/simd_level.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "stoker/base/errors.h"

namespace stoker {
namespace {

constexpr std::array kLevels{SimdLevel::kScalar, SimdLevel::kAvx2, SimdLevel::kAvx512,
                             SimdLevel::kNeon};

bool includes(SimdLevel best, SimdLevel wanted) {
  if (wanted == SimdLevel::kScalar || wanted == best) return true;
  return best == SimdLevel::kAvx512 && wanted == SimdLevel::kAvx2;
}

std::string allowed_text(SimdLevel best) {
  std::string text = "auto";
  for (const SimdLevel level : kLevels)
    if (includes(best, level)) text += fmt::format(", {}", simd_level_name(level));
  return text;
}

Error refused(std::string_view setting, SimdLevel best) {
  return {
      .code = &kSimdLevel,
      .place = {},
      .promised = fmt::format("one of {} for STOKER_SIMD on this processor", allowed_text(best)),
      .found = fmt::format("\"{}\"", setting),
      .action = {},
      .cure = {}};
}

}  // namespace

std::string_view simd_level_name(SimdLevel level) noexcept {
  constexpr std::array<std::string_view, 4> kNames{"scalar", "avx2", "avx512", "neon"};
  return kNames[static_cast<std::size_t>(level)];
}

SimdLevel detect_simd_level() noexcept {
#if defined(__x86_64__)
  // Every processor with AVX2 and FMA has F16C too, which not every compiler can ask for by name.
  const bool avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  const bool avx512 =
      __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  if (avx2 && avx512) return SimdLevel::kAvx512;
  return avx2 ? SimdLevel::kAvx2 : SimdLevel::kScalar;
#elif defined(__aarch64__)
  return SimdLevel::kNeon;
#else
  return SimdLevel::kScalar;
#endif
}

Result<SimdLevel> choose_simd_level(std::optional<std::string_view> setting, SimdLevel best) {
  if (!setting || *setting == "auto") return best;
  for (const SimdLevel level : kLevels)
    if (*setting == simd_level_name(level) && includes(best, level)) return level;
  return refused(*setting, best);
}

Result<SimdLevel> simd_level() {
  const char* const setting = std::getenv("STOKER_SIMD");
  return choose_simd_level(
      setting == nullptr ? std::nullopt : std::optional<std::string_view>(setting),
      detect_simd_level());
}

}  // namespace stoker
