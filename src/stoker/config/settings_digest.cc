#include "stoker/config/settings_digest.h"

#include <algorithm>
#include <array>

#include "stoker/config/field_table.h"

namespace stoker::config {
namespace {

// These only say how the recipe is made; its values are digested instead.
bool is_part_of_recipe(const FieldInfo& field) {
  constexpr std::array<std::string_view, 9> kNames{"preset",     "sample_rate", "n_fft",
                                                   "hop_length", "win_length",  "n_mels",
                                                   "fmin",       "fmax",        "mel"};
  return field.section == "features" &&
         std::find(kNames.begin(), kNames.end(), field.name) != kNames.end();
}

}  // namespace

std::vector<std::pair<std::string, std::string>> group_values(const Settings& settings,
                                                              Affects group) {
  std::vector<std::pair<std::string, std::string>> values;
  for (const FieldInfo& field : all_fields())
    if (field.affects == group && !is_part_of_recipe(field))
      values.emplace_back(field.path, field.json(settings));
  if (group == Affects::kFeatures)
    for (const auto& [key, value] : mel_recipe_values(recipe_of(settings.features)))
      values.emplace_back("mel." + key, value);
  std::sort(values.begin(), values.end());
  return values;
}

Digest128 settings_digest(const Settings& settings, Affects group) {
  DigestStream stream;
  for (const auto& [path, value] : group_values(settings, group)) {
    stream.add_text(path);
    stream.add_text(value);
  }
  return stream.finish();
}

}  // namespace stoker::config
