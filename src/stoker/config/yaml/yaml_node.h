// Settings text as a tree with places: YAML without anchors, tags, duplicate keys or surprises.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/error.h"

namespace stoker::config {

struct YamlEntry;

struct YamlNode {
  enum class Kind { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  std::string text;                // of a scalar
  bool quoted = false;             // a quoted scalar is text, never a number
  Place place;                     // where the value is written
  std::vector<YamlNode> items;     // of a list
  std::vector<YamlEntry> entries;  // of a map

  bool is_null() const noexcept { return kind == Kind::kNull; }
};

struct YamlEntry {
  YamlNode first;  // the key, a scalar
  YamlNode second;
};

// The one document in `text`; an empty text is an empty map. `name` is the file in error places.
// Throws ConfigError: E-CONFIG-YAML, -SIZE, -DEPTH, -ANCHOR, -DUPLICATE.
YamlNode parse_yaml(std::string_view text, const std::string& name);

// Reads the file and parses it; E-CONFIG-FILE when it cannot be read.
YamlNode load_yaml(const std::string& path);

// A value from the environment or the command line: text that begins with [ or { is parsed, all
// else is one plain scalar. `origin` ("--set data.columns") is the file in error places.
YamlNode parse_value(std::string_view text, const std::string& origin);

}  // namespace stoker::config
