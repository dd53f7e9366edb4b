// Digests over the settings that decide features, texts or order, and the values behind them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stoker/base/digest/digest.h"
#include "stoker/config/field.h"
#include "stoker/config/settings.h"

namespace stoker::config {

// Path and effective value (shortest round-trip form), sorted by path, of everything that affects
// `group`. Features hold the resolved mel recipe, so a preset and the same values set by hand are
// equal.
std::vector<std::pair<std::string, std::string>> group_values(const Settings& settings,
                                                              Affects group);

// XXH3-128 over group_values. Resolve `auto` values first: "auto" itself is what is digested here.
Digest128 settings_digest(const Settings& settings, Affects group);

}  // namespace stoker::config
