// The declared settings, for keyword arguments, docstrings and suggestions.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "crossing.h"
#include "stoker/base/log.h"
#include "stoker/config/field_table.h"
#include "stoker/config/settings_text.h"

namespace stoker::python {
namespace {

nb::list declared_settings() {
  const config::Settings defaults;
  nb::list all;
  for (const config::FieldInfo& field : config::all_fields()) {
    nb::dict one;
    one["path"] = field.path;
    one["name"] = field.name;
    one["kind"] = field.kind;
    one["unit"] = field.unit;
    one["sentence"] = field.sentence;
    one["default"] = field.json(defaults);
    all.append(one);
  }
  return all;
}

}  // namespace

config::Settings settings_of(const std::string& call, const std::string& config_file,
                             const Keywords& keywords) {
  config::SettingsInputs inputs{.file = config_file, .environment = config::stoker_environment()};
  for (const auto& [name, text] : keywords) {
    std::string origin = call;
    inputs.keywords.push_back({name, text, origin.append("(").append(name).append("=)")});
  }
  config::LoadedSettings loaded = config::load_settings(inputs);
  for (const std::string& notice : loaded.notices) log(LogLevel::kInfo, notice);
  return std::move(loaded.settings);
}

void bind_settings(nb::module_& module) {
  module.def("declared_settings", &declared_settings,
             nb::sig("def declared_settings() -> list[dict[str, str]]"),
             "Every setting: path, name, kind, unit, sentence and default.");
  module.def(
      "effective_settings",
      [](const std::string& config, const Keywords& keywords) {
        return config::settings_json(settings_of("settings", config, keywords)).dump();
      },
      nb::arg("config"), nb::arg("keywords"), "Every setting by its path, as JSON.");
}

}  // namespace stoker::python
