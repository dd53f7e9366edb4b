// Settings that were given and that nothing reads yet: said, so that nobody counts on them.
#pragma once

#include <string>

#include "stoker/config/load.h"

namespace stoker::config {

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
