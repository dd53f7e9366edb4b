// Checks how settings fit together, beyond the range of each, and names those without effect.
#pragma once

#include <string>

#include "stoker/config/load.h"

namespace stoker::config {

// Throws ConfigError naming both keys, both values and where the first came from.
void check_settings(const LoadedSettings& loaded);

// For commands that write a cache, before any work: the folder is neither the data set itself nor
// the root, and can be made and written. Throws E-CONFIG-FOLDER.
void check_cache_folder(const std::string& cache_dir, const std::string& data_path);

// Which settings a command would read if they were all read.
enum class CommandKind {
  kOther,  // what was given on the command line itself
  kFeed,   // the same, and what concerns a feed
  kTrain,  // everything
  kShow,   // everything; it only shows, so nothing is refused
};

// "has no effect yet: data.val_path (config.yaml:3), …", or empty. Values that ask for what happens
// anyway (off, empty, none) are not told.
std::string no_effect_line(const LoadedSettings& loaded, CommandKind command);

// E-CONFIG-NOEFFECT for the same settings, for runs with --strict.
void refuse_no_effect(const LoadedSettings& loaded, CommandKind command);

}  // namespace stoker::config
