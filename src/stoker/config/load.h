// Makes the effective settings of a run: file < environment < command line < --set, and remembers
// where each value came from.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/config/settings.h"

namespace stoker::config {

// Stronger sources later.
enum class SourceKind {
  kDefault,
  kSize,    // training.model_size
  kMyxtts,  // a default of myxtts, because the file is one of its own
  kLevel,   // training.optimization_level
  kFile,
  kEnvironment,
  kCommandLine,
  kSet,
};

struct ValueSource {
  SourceKind kind = SourceKind::kDefault;
  Place place = {};  // file and line; or the variable or option in `file`
};

// "default", "config.yaml:12", "environment STOKER_SEED", "--batch-size", "--set".
std::string source_text(const ValueSource& source);

// One value given on the command line; `origin` is the option as typed.
struct Assignment {
  std::string path;  // "data.batch_size"
  std::string text;
  std::string origin;
};

struct SettingsInputs {
  std::string file = {};                                              // empty: none
  std::vector<std::pair<std::string, std::string>> environment = {};  // STOKER_* only
  std::vector<Assignment> command_line = {};
  std::vector<Assignment> keywords = {};  // of a call; a path may lack its section
  std::vector<std::string> set = {};      // "data.batch_size=48"
};

struct LoadedSettings {
  Settings settings;
  std::vector<ValueSource> sources;  // by index_of(field)
  std::vector<std::string> notices;  // one line each, for people
  bool from_myxtts = false;          // the file is one of myxtts
};

// Throws ConfigError. The result has passed check_settings.
LoadedSettings load_settings(const SettingsInputs& inputs);

// The STOKER_* variables of this process.
std::vector<std::pair<std::string, std::string>> stoker_environment();

}  // namespace stoker::config
