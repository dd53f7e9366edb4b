// The values that each source gives, and how they are put over each other, the stronger source
// last.
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

// Each entry with its name. Keys of a section that are written at the top are taken into it, with
// a line in `notices`. Throws E-CONFIG-UNKNOWN with the nearest name.
std::vector<GivenValue> file_values(const YamlNode& root, std::vector<std::string>& notices);

// STOKER_DATA__BATCH_SIZE -> data.batch_size. Variables that are no settings are left out; unknown
// ones are errors.
std::vector<GivenValue> environment_values(
    const std::vector<std::pair<std::string, std::string>>& environment);

std::vector<GivenValue> command_line_values(const std::vector<Assignment>& assignments);

// As those of the command line; a key without its section is taken into it.
std::vector<GivenValue> keyword_values(const std::vector<Assignment>& keywords);

// "data.batch_size=48"; a key without its section is taken into it.
std::vector<GivenValue> set_values(const std::vector<std::string>& set);

// Collects given values and turns names of myxtts into ours. Used by load_settings only.
class Layers {
 public:
  explicit Layers(LoadedSettings& into);

  // The defaults and preset of myxtts, for a file that is one of its own.
  void use_myxtts_defaults();
  // Values of one source; of two names for one setting the better known one is taken.
  void apply(const std::vector<GivenValue>& values);
  // What training.model_size brings where nothing else says more than the default.
  void apply_size();
  // What training.optimization_level means, below every value that was given.
  void apply_level();

 private:
  void assign(const FieldInfo& field, const YamlNode& value, const ValueSource& source);
  void assign_text(std::string_view path, const std::string& text, const ValueSource& source);
  void assign_weaker(std::string_view path, std::string_view text, SourceKind kind);
  void apply_rule(const GivenValue& given);
  void apply_loudness(const std::vector<GivenValue>& values);
  void say(const GivenValue& given, std::string_view notice);

  LoadedSettings& into_;
};

}  // namespace stoker::config
