#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "stoker/cli/commands.h"
#include "stoker/cli/frame.h"
#include "stoker/cli/terminal.h"
#include "stoker/config/field_table.h"
#include "stoker/config/load.h"
#include "stoker/config/value_text.h"

namespace stoker::cli {
namespace {

using nlohmann::ordered_json;

ordered_json& slot_of(ordered_json& settings, const config::FieldInfo& field) {
  return field.section.empty() ? settings[field.name] : settings[field.section][field.name];
}

ExitCode show(Frame& frame) {
  const config::LoadedSettings& loaded = frame.loaded();
  ordered_json settings;
  std::string section;
  for (const config::FieldInfo& field : config::all_fields()) {
    const std::string json = field.json(loaded.settings);
    const config::ValueSource& source = loaded.sources[config::index_of(field)];
    slot_of(settings, field) = {{"value", ordered_json::parse(json)},
                                {"source", config::source_text(source)}};
    if (field.section != section) {
      section = field.section;
      frame.print(coloured(section + ":", Colour::kBold, Stream::kOut));
    }
    std::string value = config::plain_text(json);
    if (value == "null") value = "none";
    const std::string left =
        fmt::format("{}{}: {}", section.empty() ? "" : "  ", field.name, value);
    frame.print(
        fmt::format("{:<44} {}", left,
                    coloured("# " + config::source_text(source), Colour::kDim, Stream::kOut)));
  }
  frame.report()["settings"] = std::move(settings);
  return ExitCode::kDone;
}

}  // namespace

void add_config_commands(CLI::App& app, Frame& frame) {
  CLI::App* config = app.add_subcommand("config", "Settings: show, check, explain, migrate");
  CLI::App* show_command =
      config->add_subcommand("show", "Effective settings and where each came from");
  frame.on(*show_command, [&frame] { return show(frame); });
}

}  // namespace stoker::cli
