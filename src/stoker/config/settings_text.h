// Settings written down: as a native file, as the reference page, and as the values digests cover.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stoker/base/digest/digest.h"
#include "stoker/base/json.h"
#include "stoker/config/field.h"
#include "stoker/config/load.h"

namespace stoker::config {

// A native file that loads back to the same values. Every setting: what is saved with a cache or a
// run.
std::string settings_yaml(const Settings& settings);

// Only what did not come from our defaults: what people keep.
std::string given_yaml(const LoadedSettings& loaded);

// Every setting by its path, and back: settings on their way into another library or a checkpoint.
// E-CONFIG-VALUE or E-CONFIG-RANGE, which name `name` as the file, for a setting that is absent or
// not of its kind.
Json settings_json(const Settings& settings);
Settings settings_of_json(const Json& json, const std::string& name);

// The reference page of all settings, docs/reference/settings.md, as Markdown; the same bytes for
// the same declarations.
std::string settings_page();

// Path and effective value (shortest round-trip form), sorted by path, of everything that affects
// `group`. Features hold the resolved mel recipe, so a preset and the same values set by hand are
// equal.
std::vector<std::pair<std::string, std::string>> group_values(const Settings& settings,
                                                              Affects group);

// XXH3-128 over group_values. Resolve `auto` values first: "auto" itself is what is digested here.
Digest128 settings_digest(const Settings& settings, Affects group);

}  // namespace stoker::config
