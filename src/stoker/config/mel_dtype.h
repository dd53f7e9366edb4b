// The number format of stored and delivered mel frames, named once for config, cache and kernels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stoker::config {

enum class MelDtype : std::uint8_t { kF32, kF16, kBf16 };

inline constexpr std::array<std::string_view, 3> kMelDtypeNames{"f32", "f16", "bf16"};

constexpr std::string_view name_of(MelDtype dtype) {
  return kMelDtypeNames[static_cast<std::size_t>(dtype)];
}

constexpr std::size_t bytes_per_value(MelDtype dtype) { return dtype == MelDtype::kF32 ? 4 : 2; }

}  // namespace stoker::config
