// Tells which settings of a cache differ from the wanted ones, as a table people can read.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/error.h"
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

}  // namespace stoker::cache
