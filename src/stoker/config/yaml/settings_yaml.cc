#include "stoker/config/yaml/settings_yaml.h"

#include <fmt/format.h>

#include <functional>

#include "stoker/config/field_table.h"
#include "stoker/config/value_text.h"

namespace stoker::config {
namespace {

// The two ways to size a batch exclude each other in a file.
bool is_shut_out(const FieldInfo& field, const BatchSettings& batch) {
  if (field.path == "data.batch_size") return !batch.batch_size;
  return field.path == "data.batch_frames" && batch.batch_size;
}

std::string write(const Settings& settings, const std::function<bool(const FieldInfo&)>& wanted) {
  std::string text;
  std::string section;
  for (const FieldInfo& field : all_fields()) {
    if (!wanted(field) || is_shut_out(field, settings.batch)) continue;
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

}  // namespace

std::string settings_yaml(const Settings& settings) {
  return write(settings, [](const FieldInfo&) { return true; });
}

std::string given_yaml(const LoadedSettings& loaded) {
  return write(loaded.settings, [&loaded](const FieldInfo& field) {
    return loaded.sources[index_of(field)].kind != SourceKind::kDefault;
  });
}

}  // namespace stoker::config
