#include "stoker/config/settings_yaml.h"

#include <fmt/format.h>

#include "stoker/config/field_table.h"
#include "stoker/config/value_text.h"

namespace stoker::config {
namespace {

bool is_written(const FieldInfo& field, const Settings& settings, YamlScope scope) {
  // The two ways to size a batch exclude each other in a file.
  if (field.path == "data.batch_size") return settings.batch.batch_size.has_value();
  if (field.path == "data.batch_frames" && settings.batch.batch_size) return false;
  return scope == YamlScope::kAll || field.json(settings) != field.json(Settings{});
}

}  // namespace

std::string settings_yaml(const Settings& settings, YamlScope scope) {
  std::string text;
  std::string section;
  for (const FieldInfo& field : all_fields()) {
    if (!is_written(field, settings, scope)) continue;
    if (field.section != section) {
      text += fmt::format("{}{}:\n", text.empty() ? "" : "\n", field.section);
      section = field.section;
    }
    std::string value = plain_text(field.json(settings));
    if (value == "null") value = "none";
    text += fmt::format("{}{}: {}\n", section.empty() ? "" : "  ", field.name, value);
  }
  return text;
}

}  // namespace stoker::config
