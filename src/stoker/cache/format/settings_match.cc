#include "stoker/cache/format/settings_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "stoker/cache/errors.h"

namespace stoker::cache {
namespace {

using Table = std::map<std::pair<std::string, std::string>, std::string>;

Table table_of(const Manifest& manifest) {
  Table table;
  for (const Setting& setting : manifest.settings)
    table[{setting.group, setting.name}] = setting.value;
  return table;
}

std::string value_in(const Table& table, const std::pair<std::string, std::string>& key) {
  const auto at = table.find(key);
  return at == table.end() ? "absent" : at->second;
}

}  // namespace

std::vector<SettingDifference> compare_settings(const Manifest& have, const Manifest& want) {
  const Table have_table = table_of(have);
  const Table want_table = table_of(want);
  Table all = have_table;
  all.insert(want_table.begin(), want_table.end());
  std::vector<SettingDifference> differences;
  for (const auto& [key, unused] : all) {
    const std::string old_value = value_in(have_table, key);
    const std::string new_value = value_in(want_table, key);
    if (old_value != new_value)
      differences.push_back({key.first, key.second, old_value, new_value});
  }
  return differences;
}

std::vector<std::string> difference_table(const std::vector<SettingDifference>& differences) {
  std::size_t name_columns = 7;
  std::size_t have_columns = 4;
  for (const SettingDifference& row : differences) {
    name_columns = std::max(name_columns, row.name.size());
    have_columns = std::max(have_columns, row.have.size());
  }
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{:<8}  {:<{}}  {:<{}}  {}", "group", "setting", name_columns, "have",
                              have_columns, "want"));
  for (const SettingDifference& row : differences)
    lines.push_back(fmt::format("{:<8}  {:<{}}  {:<{}}  {}", row.group, row.name, name_columns,
                                row.have, have_columns, row.want));
  return lines;
}

Error settings_error(const std::string& folder, const std::vector<SettingDifference>& differences) {
  Error error;
  error.code = &kCacheSettings;
  error.place.file = folder;
  if (differences.empty()) {
    error.promised = "a cache of these settings";
    error.found = "a cache of other settings";
    return error;
  }
  const SettingDifference& first = differences.front();
  error.promised = fmt::format("{} = {}", first.name, first.want);
  error.found = fmt::format("{} in the cache", first.have);
  if (differences.size() > 1)
    error.found += fmt::format(", and {} more differences", differences.size() - 1);
  return error;
}

std::optional<SimdLevel> level_of(const Manifest& have) {
  Result<SimdLevel> theirs =
      choose_simd_level(have.path.substr(0, have.path.find('/')), detect_simd_level());
  return theirs ? std::optional(*theirs) : std::nullopt;
}

Result<SimdLevel> level_for(const Manifest* have, const std::string& folder,
                            std::optional<SimdLevel> begin_at) {
  Result<SimdLevel> own = simd_level();
  if (own && begin_at) own = *begin_at;
  if (!own || have == nullptr) return own;
  const std::string name = have->path.substr(0, have->path.find('/'));
  if (name == simd_level_name(*own) || name == "imported") return own;
  const bool forced = std::getenv("STOKER_SIMD") != nullptr;
  const std::optional<SimdLevel> theirs = level_of(*have);
  if (theirs && !forced) return *theirs;
  return settings_error(folder,
                        {{"features", "numeric path", name, std::string(simd_level_name(*own))}});
}

}  // namespace stoker::cache
