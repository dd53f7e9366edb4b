#include "stoker/cli/reference_pages.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/cli/command_line.h"

namespace stoker::cli {
namespace {

constexpr std::string_view kErrorsHead = R"(# Error codes

This page is written by `stoker config reference errors`; a test compares them.

An error is one line, `error[CODE] file:line: expected X, found Y; what was done`, and
at most one line of help. With `--json` the same parts are under `error`. The exit code is that of
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

std::string option_table(const Command& command) {
  std::string rows;
  for (const OptionInfo& option : command.options()) {
    if (!option.is_shown || option.names == "-h,--help") continue;
    rows += fmt::format("| `{}{}` | {} |\n", cell(option.names),
                        option.takes_value ? " " + cell(option.value_name) : "", cell(option.help));
  }
  return rows.empty() ? rows : "\n| option | what it does |\n|---|---|\n" + rows;
}

void add_command(std::string& text, const Command& command) {
  const std::string path = command.path();
  text += fmt::format("\n## `stoker{}{}`\n\n{}\n{}", path.empty() ? "" : " ", path,
                      command.sentence(), option_table(command));
  for (const Command& sub : command.commands()) add_command(text, sub);
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

std::string commands_page(const Command& app) {
  std::string text(kCommandsHead);
  add_command(text, app);
  return text;
}

}  // namespace stoker::cli
