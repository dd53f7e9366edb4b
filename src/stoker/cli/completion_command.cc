#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"

namespace stoker::cli {
namespace {

// One line of the tree a shell needs: after these words, these can come.
struct Node {
  std::string path;  // "config show", or empty for the program itself
  std::vector<std::string> words;
};

void add_nodes(const Command& command, std::vector<Node>& nodes) {
  Node node{.path = command.path(), .words = {}};
  for (const Command& sub : command.commands()) node.words.push_back(sub.name());
  for (const OptionInfo& option : command.options())
    if (option.is_shown)
      node.words.insert(node.words.end(), option.long_names.begin(), option.long_names.end());
  nodes.push_back(std::move(node));
  for (const Command& sub : command.commands()) add_nodes(sub, nodes);
}

std::vector<Node> command_tree(const Command& app) {
  std::vector<Node> nodes;
  add_nodes(app, nodes);
  return nodes;
}

std::string cases(const std::vector<Node>& nodes) {
  std::string text;
  for (const Node& node : nodes)
    text += fmt::format("    \"{}\") words=\"{}\" ;;\n", node.path, fmt::join(node.words, " "));
  return text;
}

// The longest path made of the words typed so far that is a command.
std::string bash_script(const std::vector<Node>& nodes) {
  return fmt::format(R"sh(_stoker_words() {{
  local words
  case "$1" in
{}    *) return 1 ;;
  esac
  printf '%s' "$words"
}}
_stoker() {{
  local path="" try word words
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    try="${{path:+$path }}$word"
    _stoker_words "$try" >/dev/null && path="$try"
  done
  words="$(_stoker_words "$path") $(_stoker_words "")"
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _stoker stoker
)sh",
                     cases(nodes));
}

std::string zsh_script(const std::vector<Node>& nodes) {
  return "#compdef stoker\nautoload -U +X bashcompinit && bashcompinit\n" + bash_script(nodes);
}

std::string fish_script(const std::vector<Node>& nodes) {
  std::string text = "complete -c stoker -f\n";
  for (const Node& node : nodes) {
    const std::string seen =
        node.path.empty()
            ? "__fish_use_subcommand"
            : fmt::format("string match -q -- \\\"stoker {}*\\\" (commandline -cp)", node.path);
    for (const std::string& word : node.words) {
      const bool is_option = word.starts_with("--");
      text += fmt::format("complete -c stoker -n \"{}\" {} {}\n", seen, is_option ? "-l" : "-a",
                          is_option ? word.substr(2) : word);
    }
  }
  return text;
}

}  // namespace

void add_completion_command(const Command& app, CommandContext& context) {
  const Command completion =
      app.add_command("completion", "Print a completion script: source <(stoker completion bash)");
  using Writer = std::string (*)(const std::vector<Node>&);
  const std::vector<std::pair<const char*, Writer>> shells = {
      {"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};
  for (const auto& [shell, write] : shells) {
    const Command command = completion.add_command(shell, fmt::format("For {}", shell));
    context.on(command, [app, &context, write_script = write] {
      context.print_raw(write_script(command_tree(app)));
      return ExitCode::kDone;
    });
  }
}

}  // namespace stoker::cli
