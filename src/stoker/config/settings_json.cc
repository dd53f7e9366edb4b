// Settings as one JSON object, through the same readers and writers as files.
#include <fmt/format.h>

#include "stoker/config/errors.h"
#include "stoker/config/field_table.h"
#include "stoker/config/settings_text.h"

namespace stoker::config {
namespace {

[[noreturn]] void refuse(const std::string& name, const FieldInfo& field, std::string found) {
  raise({.code = &kConfigValue,
         .place = {.file = name},
         .promised = fmt::format("{} for {}", field.kind, field.path),
         .found = std::move(found)});
}

// JSON has no sizes and no word for a choice: they are texts in quotes there.
YamlNode without_quotes(const FieldInfo& field, YamlNode node) {
  if (field.kind.ends_with("size")) node.quoted = false;
  return node;
}

}  // namespace

Json settings_json(const Settings& settings) {
  Json out = Json::object();
  for (const FieldInfo& field : all_fields()) {
    const std::string text = field.json(settings);
    std::optional<Json> value = Json::parse(text);
    if (!value) refuse("settings", field, text);
    out[field.path] = std::move(*value);
  }
  return out;
}

Settings settings_of_json(const Json& json, const std::string& name) {
  const YamlNode root = parse_yaml(json.dump(), name);
  Settings settings;
  for (const FieldInfo& field : all_fields()) {
    const YamlNode* found = nullptr;
    for (const YamlEntry& entry : root.entries)
      if (entry.first.text == field.path) found = &entry.second;
    if (found == nullptr) refuse(name, field, "nothing");
    field.read(settings, without_quotes(field, *found));
  }
  return settings;
}

}  // namespace stoker::config
