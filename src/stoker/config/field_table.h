// Every declared setting in one table, whatever struct and type it has.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/config/field.h"
#include "stoker/config/settings.h"
#include "stoker/config/yaml/yaml_node.h"

namespace stoker::config {

// One setting. `read` and `json` work on the member that its declaration names.
struct FieldInfo {
  std::string section;  // empty for settings at the top
  std::string title;    // heading of its struct
  std::string name;
  std::string path;  // "data.batch_size", "seed"
  std::string kind;  // "whole number", "auto or size", "one of skip, fail"
  std::string range;
  std::string unit;
  std::string sentence;
  std::vector<std::string> flags;         // with the dashes; switches: what turns it on
  std::vector<std::string> off_flags;     // switches: what turns it off
  std::vector<std::string> myxtts_paths;  // the names that myxtts has for it
  std::vector<std::string> choices;
  bool is_switch = false;
  bool takes_nothing = false;  // `key:` without a value is a value of its own: none, or empty
  Affects affects = Affects::kNothing;
  NotYet not_yet = NotYet::kRead;
  std::string not_yet_value;  // where only this value has no effect; empty: every value
  std::function<void(Settings&, const YamlNode&)> read;  // throws ConfigError
  std::function<std::string(const Settings&)> json;
};

// In the order of declaration; made once.
std::span<const FieldInfo> all_fields();

// The setting of that path, or null. Only canonical paths.
const FieldInfo* find_field(std::string_view path);

// The field's index in all_fields().
std::size_t index_of(const FieldInfo& field);

std::string_view affects_name(Affects affects);

}  // namespace stoker::config
