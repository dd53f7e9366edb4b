// Codes of mel recipes that cannot be: an unknown preset, a value out of range.
#pragma once

#include "stoker/base/error.h"

namespace stoker::config {

inline constexpr ErrorCode kMelPreset{"E-MEL-PRESET", ExitCode::kUsage,
                                      "The preset is none of the ten known ones.",
                                      "see docs/guide/which-mel.md for the list"};
inline constexpr ErrorCode kMelValue{"E-MEL-VALUE", ExitCode::kUsage,
                                     "A value of the mel recipe is unknown or out of range.",
                                     "see docs/guide/which-mel.md for every value and its meaning"};

}  // namespace stoker::config
