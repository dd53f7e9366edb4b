// Writes settings as a native file that loads back to the same values.
#pragma once

#include <string>

#include "stoker/config/load.h"

namespace stoker::config {

// Every setting: what is saved with a cache or a run.
std::string settings_yaml(const Settings& settings);

// Only what did not come from our defaults: what people keep.
std::string given_yaml(const LoadedSettings& loaded);

}  // namespace stoker::config
