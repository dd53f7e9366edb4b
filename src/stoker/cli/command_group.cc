#include "stoker/cli/command_group.h"

#include <CLI/CLI.hpp>

namespace stoker::cli {

CLI::App& command_group(CLI::App& app, const std::string& name, const std::string& description) {
  for (CLI::App* group : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (group->get_name() == name) return *group;
  }
  return *app.add_subcommand(name, description);
}

}  // namespace stoker::cli
