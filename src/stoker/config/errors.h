// The error codes of settings: files, values, names, how they fit together, and mel recipes.
#pragma once

#include <array>

#include "stoker/base/error.h"

namespace stoker::config {

inline constexpr ErrorCode kConfigFile{"E-CONFIG-FILE", ExitCode::kUsage,
                                       "The settings file cannot be read.",
                                       "check the path; names are case-sensitive"};
inline constexpr ErrorCode kConfigSize{"E-CONFIG-SIZE", ExitCode::kUsage,
                                       "The settings file is larger than 1 MiB.",
                                       "give the YAML file with settings, not data"};
inline constexpr ErrorCode kConfigYaml{"E-CONFIG-YAML", ExitCode::kUsage,
                                       "The settings file is not the YAML that stoker reads: "
                                       "sections of keys, spaces for indentation, UTF-8.",
                                       "correct that line; docs/guide/settings.md shows a file"};
inline constexpr ErrorCode kConfigDepth{"E-CONFIG-DEPTH", ExitCode::kUsage,
                                        "The settings file nests deeper than 32 levels.",
                                        "settings need three levels at most"};
inline constexpr ErrorCode kConfigAnchor{"E-CONFIG-ANCHOR", ExitCode::kUsage,
                                         "The settings file uses an anchor, an alias or a tag.",
                                         "write the value out where it is needed"};
inline constexpr ErrorCode kConfigDuplicate{"E-CONFIG-DUPLICATE", ExitCode::kUsage,
                                            "A key is given twice in one section; both lines are "
                                            "named.",
                                            "keep one of the two lines"};
inline constexpr ErrorCode kConfigUnknown{"E-CONFIG-UNKNOWN", ExitCode::kUsage,
                                          "A section, key or variable that stoker does not know.",
                                          "stoker config reference lists every setting"};
inline constexpr ErrorCode kConfigValue{"E-CONFIG-VALUE", ExitCode::kUsage,
                                        "A value is not of the kind its setting takes.",
                                        "stoker config reference lists the values of each setting"};
inline constexpr ErrorCode kConfigRange{"E-CONFIG-RANGE", ExitCode::kUsage,
                                        "A value is outside the range of its setting.",
                                        "choose a value in that range"};
inline constexpr ErrorCode kConfigConflict{"E-CONFIG-CONFLICT", ExitCode::kUsage,
                                           "Two settings contradict each other.",
                                           "change one of the two, or leave it out"};
inline constexpr ErrorCode kConfigFolder{"E-CONFIG-FOLDER", ExitCode::kUsage,
                                         "A folder that would be written to is the data set, the "
                                         "root, or cannot be written.",
                                         "choose another folder with --cache"};

inline constexpr ErrorCode kConfigNoEffect{
    "E-CONFIG-NOEFFECT", ExitCode::kUsage,
    "With --strict: a setting was given that nothing reads yet.",
    "remove the setting, or leave --strict out: without it this is a notice"};

inline constexpr ErrorCode kMelPreset{
    "E-MEL-PRESET", ExitCode::kUsage, "The preset is none of the ten known ones.",
    "type --preset hifigan, or another preset of docs/guide/which-mel.md"};
inline constexpr ErrorCode kMelValue{"E-MEL-VALUE", ExitCode::kUsage,
                                     "A value of the mel recipe is unknown or out of range.",
                                     "see docs/guide/which-mel.md for every value and its meaning"};

inline constexpr std::array kErrorCodes{
    &kConfigFile,      &kConfigSize,     &kConfigYaml,  &kConfigDepth, &kConfigAnchor,
    &kConfigDuplicate, &kConfigUnknown,  &kConfigValue, &kConfigRange, &kConfigConflict,
    &kConfigFolder,    &kConfigNoEffect, &kMelPreset,   &kMelValue};

}  // namespace stoker::config
