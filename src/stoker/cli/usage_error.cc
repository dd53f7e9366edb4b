#include "stoker/cli/usage_error.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stoker/cli/errors.h"
#include "stoker/config/nearest_name.h"

namespace stoker::cli {
namespace {

const CLI::App& deepest_chosen(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  return chosen.empty() ? app : deepest_chosen(*chosen.back());
}

std::string path_of(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? "stoker" : path_of(*parent) + " " + command.get_name();
}

std::vector<std::string> command_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* sub : command.get_subcommands(nullptr)) names.push_back(sub->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* level = &command; level != nullptr; level = level->get_parent())
    for (const CLI::Option* option : level->get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::string advice(const CLI::App& command, const std::optional<std::string>& nearest) {
  const std::string help = fmt::format("{} --help says what it takes", path_of(command));
  return nearest ? fmt::format("did you mean {}? {}", *nearest, help) : help;
}

Error unexpected_word(const CLI::App& command, const std::string& word) {
  const bool is_option = word.starts_with("-");
  const bool has_commands = !command.get_subcommands(nullptr).empty();
  const auto names = is_option ? option_names(command) : command_names(command);
  const std::string name = word.substr(0, word.find('='));
  const std::string_view kind = is_option ? "option" : has_commands ? "command" : "argument";
  return {.code = &kUsage,
          .found = fmt::format("{} has no {} \"{}\"", path_of(command), kind, word),
          .cure = advice(command, config::nearest_name(name, names))};
}

}  // namespace

Error usage_error(const CLI::App& app, const CLI::ParseError& refused) {
  const CLI::App& command = deepest_chosen(app);
  const std::vector<std::string> unknown = app.remaining(true);
  if (!unknown.empty()) return unexpected_word(command, unknown.front());
  return {.code = &kUsage, .found = refused.what(), .cure = advice(command, std::nullopt)};
}

Error no_command(const CLI::App& app) {
  const CLI::App& command = deepest_chosen(app);
  return {.code = &kUsage,
          .found = fmt::format("{} needs a command: {}", path_of(command),
                               fmt::join(command_names(command), ", ")),
          .cure = advice(command, std::nullopt)};
}

}  // namespace stoker::cli
