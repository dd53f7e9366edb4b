// Loads settings from YAML text as if it were a file named config.yaml.
#pragma once

#include <string>
#include <string_view>

#include "stoker/config/load.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker::config {

inline LoadedSettings load_from_text(std::string_view yaml, SettingsInputs inputs = {}) {
  const ScratchFolder folder;
  folder.put("config.yaml", yaml);
  inputs.file = folder / "config.yaml";
  return load_settings(inputs);
}

// The error that loading ends with; its code is null when it did not.
inline Error load_error(std::string_view yaml, SettingsInputs inputs = {}) {
  try {
    load_from_text(yaml, std::move(inputs));
  } catch (const ConfigError& refused) {
    return refused.error();
  }
  return {};
}

inline std::string code_of(const Error& error) {
  return error.code == nullptr ? "loaded" : std::string(error.code->name);
}

}  // namespace stoker::config
