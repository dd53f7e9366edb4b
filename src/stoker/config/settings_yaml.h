// Writes settings as a native file that loads back to the same values.
#pragma once

#include <string>

#include "stoker/config/settings.h"

namespace stoker::config {

enum class YamlScope {
  kAll,      // every setting: what is saved with a cache or a run
  kChanged,  // only what differs from the defaults: what people keep
};

std::string settings_yaml(const Settings& settings, YamlScope scope);

}  // namespace stoker::config
