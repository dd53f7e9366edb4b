#include "stoker/config/no_effect.h"

#include <fmt/format.h>

#include <vector>

#include "stoker/config/errors.h"
#include "stoker/config/field_table.h"
#include "stoker/config/value_text.h"

namespace stoker::config {
namespace {

bool is_inert(const FieldInfo& field, const Settings& settings) {
  const std::string value = plain_text(field.json(settings));
  if (!field.not_yet_value.empty()) return value != field.not_yet_value;
  if (value != plain_text(field.json(Settings{}))) return false;
  // Of what equals the default only a number asks for something; off, empty and ranges do not.
  const bool is_range = value.starts_with('[');
  return field.is_switch || value == "auto" || field.takes_nothing || is_range;
}

bool concerns(const FieldInfo& field, SourceKind source, CommandKind command) {
  if (source < SourceKind::kFile) return false;
  if (source >= SourceKind::kCommandLine || command >= CommandKind::kTrain) return true;
  return command == CommandKind::kFeed && field.not_yet == NotYet::kFeed;
}

std::vector<const FieldInfo*> fields_without_effect(const LoadedSettings& loaded,
                                                    CommandKind command) {
  std::vector<const FieldInfo*> found;
  for (const FieldInfo& field : all_fields()) {
    if (field.not_yet == NotYet::kRead) continue;
    if (!concerns(field, loaded.sources[index_of(field)].kind, command)) continue;
    if (!is_inert(field, loaded.settings)) found.push_back(&field);
  }
  return found;
}

// A value without effect is named with it: "data.batch_frames: auto".
std::string name_of(const FieldInfo& field) {
  return field.not_yet_value.empty() ? field.path : field.path + ": " + field.not_yet_value;
}

}  // namespace

std::string no_effect_line(const LoadedSettings& loaded, CommandKind command) {
  std::string line;
  for (const FieldInfo* field : fields_without_effect(loaded, command)) {
    line += line.empty() ? "has no effect yet: " : ", ";
    line += fmt::format("{} ({})", name_of(*field), source_text(loaded.sources[index_of(*field)]));
  }
  return line;
}

void refuse_no_effect(const LoadedSettings& loaded, CommandKind command) {
  const std::vector<const FieldInfo*> fields = fields_without_effect(loaded, command);
  if (fields.empty() || command == CommandKind::kShow) return;
  raise({.code = &kConfigNoEffect,
         .place = loaded.sources[index_of(*fields.front())].place,
         .promised = "with --strict, settings that have an effect",
         .found = name_of(*fields.front()) + " has no effect yet"});
}

}  // namespace stoker::config
