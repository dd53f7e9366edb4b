// Puts values over each other, the stronger source last.
#pragma once

#include <string>
#include <vector>

#include "stoker/config/legacy/known_names.h"
#include "stoker/config/load.h"
#include "stoker/config/yaml/yaml_node.h"

namespace stoker::config {

// A value for a name that is known, from one source.
struct GivenValue {
  KnownName name;
  YamlNode value;
  ValueSource source;
};

// Collects given values and turns old names into ours. Used by load_settings only.
class Layers {
 public:
  explicit Layers(LoadedSettings& into);

  // The original's defaults and preset, for a file that is one of its own.
  void use_original_defaults();
  // Values of one source; of two names for one setting the better known one is taken.
  void apply(const std::vector<GivenValue>& values);
  // What training.optimization_level stands for, under every value that was given.
  void apply_level();

 private:
  void assign(const FieldInfo& field, const YamlNode& value, const ValueSource& source);
  void assign_text(std::string_view path, const std::string& text, const ValueSource& source);
  void apply_rule(const GivenValue& given);
  void apply_loudness(const std::vector<GivenValue>& values);
  void say(const GivenValue& given, std::string_view notice);

  LoadedSettings& into_;
};

}  // namespace stoker::config
