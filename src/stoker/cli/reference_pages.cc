#include "stoker/cli/reference_pages.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "stoker/cli/error_catalogue.h"

namespace stoker::cli {
namespace {

constexpr std::string_view kErrorsHead = R"(# Error codes

This page is written by `stoker config reference errors`; a test compares them.

An error is one line, `error[CODE] file:line: what was promised, what was found; what was done`, and
at most one line of help. With `--json` the same parts stand under `error`. The exit code is that of
the error that ended the command.
)";

constexpr std::string_view kCommandsHead = R"(# Commands

This page is written by `stoker config reference commands`; a test compares them. Every command also
takes the global options. Options in brackets name their default; `stoker COMMAND --help` shows the
same.
)";

std::string cell(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  for (std::size_t at = 0; (at = text.find('|', at)) != text.npos; at += 2) text.insert(at, "\\");
  return text;
}

bool is_shown(const CLI::Option& option) {
  return !option.get_group().empty() && option.get_name() != "--help";
}

std::string option_table(const CLI::App& command) {
  std::string rows;
  for (const CLI::Option* option : command.get_options()) {
    if (!is_shown(*option)) continue;
    const bool takes_value = option->get_items_expected_max() > 0;
    rows += fmt::format("| `{}{}` | {} |\n", cell(option->get_name(false, true)),
                        takes_value ? " " + cell(option->get_type_name()) : "",
                        cell(option->get_description()));
  }
  return rows.empty() ? rows : "\n| option | what it does |\n|---|---|\n" + rows;
}

void add_command(std::string& text, const CLI::App& command, const std::string& path) {
  text +=
      fmt::format("\n## `{}`\n\n{}\n{}", path, command.get_description(), option_table(command));
  for (const CLI::App* sub : command.get_subcommands(nullptr))
    add_command(text, *sub, path + " " + sub->get_name());
}

}  // namespace

std::string errors_page() {
  std::string text(kErrorsHead);
  std::string_view folder;
  for (const auto& [from, code] : error_catalogue()) {
    if (from != folder) {
      folder = from;
      text += fmt::format("\n## {}\n\n| code | exit | meaning | what to do |\n|---|---|---|---|\n",
                          folder);
    }
    text += fmt::format("| `{}` | {} | {} | {} |\n", code->name, static_cast<int>(code->exit),
                        cell(std::string(code->meaning)), cell(std::string(code->cure)));
  }
  return text;
}

std::string commands_page(const CLI::App& app) {
  std::string text(kCommandsHead);
  add_command(text, app, "stoker");
  return text;
}

}  // namespace stoker::cli
