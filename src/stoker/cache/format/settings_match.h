// Tells whether a cache fits what is wanted: which settings differ, as a table people can read, and
// on which numeric path it can be completed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/result.h"
#include "stoker/base/simd_level.h"
#include "stoker/cache/format/manifest.h"

namespace stoker::cache {

struct SettingDifference {
  std::string group;
  std::string name;
  std::string have;  // "absent" when the cache does not know it
  std::string want;
};

// Sorted by group and name; empty when the cache was made with the wanted settings. The numeric
// path is not compared: a finished cache is good on every machine.
std::vector<SettingDifference> compare_settings(const Manifest& have, const Manifest& want);

// "features  mel.hop_samples  256 -> 200": one aligned line a difference, under a line of titles.
std::vector<std::string> difference_table(const std::vector<SettingDifference>& differences);

// E-CACHE-SETTINGS with the first difference in the line and the rest in number.
Error settings_error(const std::string& folder, const std::vector<SettingDifference>& differences);

// The level a build must use: that of the cache where the machine has it, else what STOKER_SIMD and
// the processor say. E-CACHE-SETTINGS where a cache can only be completed on another machine.
Result<SimdLevel> level_for(const Manifest* have, const std::string& folder,
                            std::optional<SimdLevel> begin_at = {});

// The level that a manifest names, where it names one that this processor has.
std::optional<SimdLevel> level_of(const Manifest& have);

}  // namespace stoker::cache
