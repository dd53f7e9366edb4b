#include "stoker/cli/program.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/build_info.h"
#include "stoker/base/error_json.h"
#include "stoker/base/json.h"
#include "stoker/base/log.h"
#include "stoker/base/simd_level.h"
#include "stoker/cli/commands.h"
#include "stoker/cli/errors.h"
#include "stoker/cli/stop_signals.h"
#include "stoker/cli/terminal.h"
#include "stoker/cli/trainer_call.h"
#include "stoker/config/nearest_name.h"

namespace stoker::cli {
namespace {

constexpr int kBugExit = 134;
constexpr int kKeepRunning = -1;

void install_log_sink(const GlobalOptions& options) {
  const LogLevel lowest = options.verbose ? LogLevel::kDebug
                          : options.quiet ? LogLevel::kError
                                          : LogLevel::kInfo;
  set_log_sink(make_stderr_sink(), lowest);
}

std::string path_of(const Command& command) {
  const std::string path = command.path();
  return path.empty() ? "stoker" : "stoker " + path;
}

std::vector<std::string> command_names(const Command& command) {
  std::vector<std::string> names;
  for (const Command& sub : command.commands()) names.push_back(sub.name());
  return names;
}

// Those of the command and of everything above it.
std::vector<std::string> option_names(const Command& command) {
  std::vector<std::string> names;
  for (std::optional<Command> level = command; level; level = level->parent())
    for (const OptionInfo& option : level->options())
      names.insert(names.end(), option.long_names.begin(), option.long_names.end());
  return names;
}

std::string advice(const Command& command, const std::optional<std::string>& nearest) {
  const std::string help =
      fmt::format("{} --help lists {}", path_of(command),
                  command.commands().empty() ? "what it takes" : "its commands");
  return nearest ? fmt::format("did you mean {}? {}", *nearest, help) : help;
}

// The shortest line that the command takes: "stoker data make --out TEXT --clips UINT".
std::string shortest_line(const Command& command) {
  std::string line = path_of(command);
  for (const OptionInfo& option : command.options()) {
    if (!option.is_required) continue;
    line += " " + (option.long_names.empty() ? "<" + option.names + ">"
                                             : option.long_names.front() + " " + option.value_name);
  }
  return line;
}

// An unknown command or option comes with the nearest one known.
Error unexpected_word(const Command& command, const std::string& word) {
  const bool is_option = word.starts_with("-");
  const bool has_commands = !command.commands().empty();
  const auto names = is_option ? option_names(command) : command_names(command);
  const std::string name = word.substr(0, word.find('='));
  const std::string_view kind = is_option ? "option" : has_commands ? "command" : "argument";
  return {.code = &kUsage,
          .found = fmt::format("{} has no {} \"{}\"", path_of(command), kind, word),
          .cure = advice(command, config::nearest_name(name, names))};
}

Error usage_error(const CommandLine& line, const std::string& refusal) {
  const Command command = line.chosen();
  const std::vector<std::string> unknown = line.unknown();
  if (!unknown.empty()) return unexpected_word(command, unknown.front());
  const bool lacks_something = refusal.ends_with("is required");
  return {.code = &kUsage,
          .found = refusal,
          .cure = lacks_something ? fmt::format("type {}; {}", shortest_line(command),
                                                advice(command, std::nullopt))
                                  : advice(command, std::nullopt)};
}

// For a command line that stops before a command, with the commands to choose from.
Error no_command(const CommandLine& line) {
  const Command command = line.chosen();
  return {.code = &kUsage,
          .found = fmt::format("{} needs a command: {}", path_of(command),
                               fmt::join(command_names(command), ", ")),
          .cure = advice(command, std::nullopt)};
}

// Loading libtorch takes half a second, so only --version --verbose does it.
std::string torch_version(bool is_asked) {
  if (!is_asked) return "not loaded (--verbose asks it)";
  const auto library = find_trainer();
  if (library) return library->torch_version();
  const Error& error = library.error();
  return fmt::format("absent ({}): {}; {}", error.code->name, error.found, error.code->cure);
}

Error stop_error(int signal_number, const CommandContext& context) {
  return {.code = &kStopped,
          .found = signal_number == SIGINT ? "stopped by Ctrl-C (SIGINT)" : "stopped by SIGTERM",
          .cure = context.stop_text()};
}

// Said where the work does not end in time; what it would report is not whole.
void say_last_words(int signal_number, const CommandContext& context) {
  const Error error = stop_error(signal_number, context);
  write_line("\n" + error_line(error) + "\n" + help_line(error), Stream::kErr);
}

// Pairs of name and value, in the order shown.
std::vector<std::pair<std::string, std::string>> version_lines(bool with_torch) {
  const BuildInfo build = build_info();
  return {{"version", std::string(build.version)},
          {"commit", std::string(build.commit)},
          {"compiler", std::string(build.compiler)},
          {"cuda", std::string(build.cuda)},
          {"libtorch", torch_version(with_torch)},
          {"simd", std::string(simd_level_name(simd_level().take_or_raise()))}};
}

}  // namespace

bool wants_json(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]) == "--json") return true;
  return false;
}

int Program::run(int argc, char** argv) {
  CommandLine line("stoker", "Feeds a GPU with speech batches and says why it idles.");
  line.set_footer(
      "Settings: --config FILE < environment STOKER_SECTION__KEY < options < --set; "
      "`stoker config show` prints them with their source.");
  add_global_options(line);
  for (const CommandGroup add : groups_) add(line.root(), context_);
  const int parsed = parse(line, argc, argv);
  return parsed == kKeepRunning ? run_chosen() : parsed;
}

void Program::add_global_options(CommandLine& line) {
  constexpr const char* kHeading = "Global options";
  GlobalOptions& options = context_.options_;
  const Command app = line.root();
  line.set_help_flag("-h,--help", "Print what a command does and takes, and leave", kHeading);
  app.add_option("--config", options.config_file, "Settings file (YAML)").group(kHeading);
  app.add_option("--set", options.set, "One setting, e.g. data.batch_size=48; repeatable")
      .one_value_each_time()
      .group(kHeading);
  app.add_flag("--json", options.json, "One JSON object on stdout and nothing else there")
      .group(kHeading);
  app.on_option(
         "--seed",
         [this](const std::string& text) {
           context_.give({.path = "seed", .text = text, .origin = "--seed"});
         },
         "Decides everything random (42)")
      .group(kHeading);
  app.add_flag("--verbose", options.verbose, "More talk on stderr").group(kHeading);
  app.add_flag("--quiet", options.quiet, "No talk on stderr but errors").group(kHeading);
  app.add_flag("--version", version_asked_, "Version, commit, compiler, CUDA, libtorch, SIMD level")
      .group(kHeading);
}

int Program::parse(CommandLine& line, int argc, char** argv) {
  const CommandLine::Parsed parsed = line.parse(argc, argv);
  if (parsed.outcome == CommandLine::Outcome::kHelpAsked) {
    context_.print_raw(line.help());
    return 0;
  }
  if (parsed.outcome == CommandLine::Outcome::kRefused) {
    context_.options_.json = wants_json(argc, argv);
    return fail(usage_error(line, parsed.refusal), static_cast<int>(ExitCode::kUsage));
  }
  if (version_asked_)
    context_.chosen_ = {.name = "version", .body = [this] { return show_version(); }};
  if (!context_.chosen_) return fail(no_command(line), static_cast<int>(ExitCode::kUsage));
  return kKeepRunning;
}

int Program::run_chosen() {
  std::optional<StopSignals> signals;
  const auto end = [&](const Error& error, int exit_code) {
    if (signals && signals->received() != 0) return stopped(signals->received());
    return fail(error, exit_code);
  };
  try {
    signals.emplace([this](int signal) { say_last_words(signal, context_); });
    context_.stop_ = signals->token();
    install_log_sink(context_.options_);
    const ExitCode code = context_.chosen_->body();
    if (signals->received() != 0) return stopped(signals->received());
    return finish(code);
  } catch (const Failure& failure) {
    return end(failure.error(), static_cast<int>(failure.exit_code()));
  } catch (const std::bad_alloc&) {
    return end({.code = &kMemory, .found = "out of memory"}, static_cast<int>(ExitCode::kMemory));
  } catch (const std::exception& unexpected) {
    return end({.code = &kBug, .found = unexpected.what()}, kBugExit);
  }
}

int Program::finish(ExitCode code) {
  Json& report = context_.report_;
  if (!report.contains("ok")) report["ok"] = code == ExitCode::kDone;
  write_report(nullptr);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    return fail({.code = &kOutput, .found = "standard output refused the result"},
                static_cast<int>(ExitCode::kStorage));
  return static_cast<int>(code);
}

int Program::fail(const Error& error, int exit_code) {
  const std::string line = error_line(error);
  const std::size_t mark = line.find(']') + 1;
  std::string text = coloured(line.substr(0, mark), Colour::kRed, Stream::kErr) + line.substr(mark);
  const std::string help = help_line(error);
  if (!help.empty()) text += "\n" + help;
  write_line(text, Stream::kErr);
  if (error.code != &kOutput) write_report(&error);
  return exit_code;
}

int Program::stopped(int signal_number) {
  const Error error = stop_error(signal_number, context_);
  write_line(error_line(error) + "\n" + help_line(error), Stream::kErr);
  write_report(&error);
  return 128 + signal_number;
}

ExitCode Program::show_version() {
  for (const auto& [name, value] : version_lines(context_.options_.verbose)) {
    context_.print(name == "version" ? fmt::format("stoker {}", value)
                                     : fmt::format("  {:<10}{}", name, value));
    context_.report_[name] = value;
  }
  return ExitCode::kDone;
}

void Program::write_report(const Error* error) {
  if (!context_.options_.json) return;
  Json object;
  object["command"] = context_.chosen_ ? context_.chosen_->name : "";
  object["version"] = build_info().version;
  object["ok"] = error == nullptr;
  object["seconds"] = watch_.seconds();
  object.update(context_.report_);
  if (error != nullptr) {
    object["ok"] = false;
    object["error"] = error_json(*error);
  }
  write_line(object.dump(), Stream::kOut);
}

}  // namespace stoker::cli
