// The failures of making a data set with the built-in voice.
#pragma once

#include <array>

#include "stoker/base/error.h"

namespace stoker::data::voice {

inline constexpr ErrorCode kMakeFolder{
    "E-MAKE-FOLDER", ExitCode::kUsage,
    "The folder for a made data set is not empty, or holds files that `data make` did not write.",
    "give another --out, or --overwrite to replace a data set made before"};
inline constexpr ErrorCode kMakeOption{"E-MAKE-OPTION", ExitCode::kUsage,
                                       "An option of `data make` is outside what it can do.", ""};

inline constexpr std::array kErrorCodes{&kMakeFolder, &kMakeOption};

}  // namespace stoker::data::voice
