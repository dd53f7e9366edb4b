#include "stoker/cli/program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "stoker/base/build_info.h"
#include "stoker/base/log.h"
#include "stoker/cli/commands.h"
#include "stoker/cli/errors.h"
#include "stoker/cli/stop_signals.h"
#include "stoker/cli/terminal.h"
#include "stoker/cli/usage_error.h"
#include "stoker/cli/version_text.h"

namespace stoker::cli {
namespace {

constexpr int kBugExit = 134;
constexpr int kKeepRunning = -1;

void put(nlohmann::ordered_json& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

nlohmann::ordered_json error_object(const Error& error) {
  nlohmann::ordered_json object;
  object["code"] = error.code->name;
  put(object, "file", error.place.file);
  if (error.place.line) object["line"] = *error.place.line;
  if (error.place.column) object["column"] = *error.place.column;
  if (error.place.byte) object["byte"] = *error.place.byte;
  put(object, "promised", error.promised);
  put(object, "found", error.found);
  put(object, "action", error.action);
  object["message"] = error_line(error);
  put(object, "help", help_line(error));
  return object;
}

void install_log_sink(const GlobalOptions& options) {
  const LogLevel lowest = options.verbose ? LogLevel::kDebug
                          : options.quiet ? LogLevel::kError
                                          : LogLevel::kInfo;
  set_log_sink(make_stderr_sink(), lowest);
}

}  // namespace

bool wants_json(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]) == "--json") return true;
  return false;
}

int Program::run(int argc, char** argv) {
  CLI::App app("Feeds a GPU with speech batches and says why it idles.", "stoker");
  app.fallthrough();
  app.get_formatter()->column_width(34);
  app.footer(
      "Settings: --config FILE < environment STOKER_SECTION__KEY < options < --set; "
      "`stoker config show` prints them with their source.");
  add_global_options(app);
  for (const auto add : kCommandGroups) add(app, frame_);
  const int parsed = parse(app, argc, argv);
  return parsed == kKeepRunning ? run_chosen() : parsed;
}

void Program::add_global_options(CLI::App& app) {
  GlobalOptions& options = frame_.options_;
  const auto global = [](CLI::Option* option) { option->group("Global options"); };
  app.set_help_flag("-h,--help", "Print what a command does and takes, and leave")
      ->group("Global options");
  global(app.add_option("--config", options.config_file, "Settings file (YAML)"));
  global(app.add_option("--set", options.set, "One setting, e.g. data.batch_size=48; repeatable")
             ->allow_extra_args(false));
  global(app.add_flag("--json", options.json, "One JSON object on stdout and nothing else there"));
  global(app.add_option_function<std::string>(
      "--seed",
      [this](const std::string& text) {
        frame_.give({.path = "seed", .text = text, .origin = "--seed"});
      },
      "Decides everything random (42)"));
  global(app.add_flag("--verbose", options.verbose, "More talk on stderr"));
  global(app.add_flag("--quiet", options.quiet, "No talk on stderr but errors"));
  global(app.add_flag("--version", version_asked_,
                      "Version, commit, compiler, CUDA, libtorch, SIMD level"));
}

int Program::parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    frame_.print_raw(app.help());
    return 0;
  } catch (const CLI::ParseError& refused) {
    frame_.options_.json = wants_json(argc, argv);
    return fail(usage_error(app, refused), static_cast<int>(ExitCode::kUsage));
  }
  if (version_asked_)
    frame_.chosen_ = {.name = "version", .body = [this] { return show_version(); }};
  if (!frame_.chosen_) return fail(no_command(app), static_cast<int>(ExitCode::kUsage));
  return kKeepRunning;
}

int Program::run_chosen() {
  std::optional<StopSignals> signals;
  const auto end = [&](const Error& error, int exit_code) {
    if (signals && signals->received() != 0) return stopped(signals->received());
    return fail(error, exit_code);
  };
  try {
    signals.emplace();
    frame_.stop_ = signals->token();
    install_log_sink(frame_.options_);
    const ExitCode code = frame_.chosen_->body();
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
  nlohmann::ordered_json& report = *frame_.report_;
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
  const Error error{.code = &kStopped, .found = fmt::format("stopped by signal {}", signal_number)};
  write_line(error_line(error) + "\n" + help_line(error), Stream::kErr);
  write_report(&error);
  return 128 + signal_number;
}

ExitCode Program::show_version() {
  const TorchVersion asked =
      frame_.options_.verbose ? TorchVersion::kLoad : TorchVersion::kNotLoaded;
  nlohmann::ordered_json& report = *frame_.report_;
  for (const auto& [name, value] : version_lines(asked)) {
    frame_.print(name == "version" ? fmt::format("stoker {}", value)
                                   : fmt::format("  {:<10}{}", name, value));
    report[name] = value;
  }
  return ExitCode::kDone;
}

void Program::write_report(const Error* error) {
  if (!frame_.options_.json) return;
  nlohmann::ordered_json object;
  object["command"] = frame_.chosen_ ? frame_.chosen_->name : "";
  object["version"] = build_info().version;
  object["ok"] = error == nullptr;
  object["seconds"] = watch_.seconds();
  object.update(*frame_.report_);
  if (error != nullptr) {
    object["ok"] = false;
    object["error"] = error_object(*error);
  }
  const auto lenient = nlohmann::ordered_json::error_handler_t::replace;
  write_line(object.dump(-1, ' ', false, lenient), Stream::kOut);
}

}  // namespace stoker::cli
