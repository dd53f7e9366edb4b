#include <CLI/CLI.hpp>

#include "stoker/cli/commands.h"
#include "stoker/cli/frame.h"

namespace stoker::cli {

void add_config_commands(CLI::App& app, Frame& frame) {
  CLI::App* config = app.add_subcommand("config", "Settings: show, check, explain, migrate");
  CLI::App* show = config->add_subcommand("show", "Effective settings and where each came from");
  frame.on(*show, [] { return ExitCode::kDone; });
}

}  // namespace stoker::cli
