// What every command gets: global options, effective settings, both standard streams, the report
// that becomes the JSON object, and the stop token.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/json.h"
#include "stoker/base/thread/sync.h"
#include "stoker/config/load.h"

namespace stoker::cli {

class Command;

struct GlobalOptions {
  std::string config_file;
  std::vector<std::string> set;  // "data.batch_size=48", in the order given
  bool json = false;
  bool verbose = false;
  bool quiet = false;
};

// One per process. Not thread-safe: the command's own thread uses it.
//
// A command file does:
//   const Command check = app.add_command("check", "Read every row and list what is wrong");
//   auto folder = std::make_shared<std::string>();
//   check.add_option("folder", *folder, "The data set").required();
//   context.on(check, [&context, folder] { … return ExitCode::kDone; });
class CommandContext {
 public:
  // What a command does. Returns kDone, or kCheckFailed when a check said no; every failure is a
  // stoker::Failure, which Program turns into the error line, the JSON and the exit code.
  using Body = std::function<ExitCode()>;

  CommandContext() = default;
  CommandContext(const CommandContext&) = delete;
  CommandContext& operator=(const CommandContext&) = delete;

  // Declares what the command does when the line chooses it.
  void on(const Command& command, Body body);

  const GlobalOptions& options() const noexcept { return options_; }

  // The effective settings with their sources, loaded at the first call; notices are said then.
  // Throws ConfigError.
  const config::LoadedSettings& loaded();
  const config::Settings& settings() { return loaded().settings; }
  // The same settings with further `--set` values on top, for commands that compare several.
  config::Settings settings_with(const std::vector<std::string>& further) const;
  // A setting from an option of the command line; call before settings() (settings_options.h does).
  void give(config::Assignment assignment) { given_.push_back(std::move(assignment)); }
  // A line about the settings that is said together with their notices.
  void note(std::string line) { notes_.push_back(std::move(line)); }

  // A result for people: one line on stdout; nothing with --json. On stderr when stdout carries an
  // output ("-").
  void print(std::string_view line);
  // Raw bytes on stdout, for output that is a file in itself (a page, a script); nothing with
  // --json.
  void print_raw(std::string_view text);
  // A result that is a file in itself: written to `path`, or on stdout when it is empty.
  void write_result(std::string_view text, const std::string& path);
  // For every option that names an output, before the work and before anything is printed: "-"
  // takes stdout for it (E-USAGE with --json, or when another output has it), and a path that
  // cannot be one is refused at once. Empty: not asked for.
  void reserve_output(const std::string& path);
  // Writes an output that was reserved; base/output_file.h says how.
  void write_output(const std::string& path, std::span<const std::byte> content);
  void write_output(const std::string& path, std::string_view content);
  // Talk: one line on stderr; nothing with --quiet.
  void say(std::string_view line);
  // "warning: …" on stderr; also listed under `warnings` in the JSON.
  void warn(std::string_view line);
  // Talk that only --verbose shows.
  void detail(std::string_view line);

  // The keys that the command adds to its JSON object beside command, version, ok and seconds.
  Json& report() noexcept { return report_; }

  // What to say of a stop: what was kept of the work and what to type to go on. The error line of
  // the stop ends with it, so that it is said once. From any thread.
  void when_stopped(std::string text);
  std::string stop_text() const;
  // Stopped by SIGINT or SIGTERM. A command that sees it keeps what is whole and returns.
  std::stop_token stop_token() const noexcept { return stop_; }

 private:
  friend class Program;

  struct Chosen {
    std::string name;  // "data check"
    Body body;
  };

  GlobalOptions options_;
  std::vector<config::Assignment> given_;
  std::vector<std::string> notes_;
  std::optional<config::LoadedSettings> loaded_;
  std::optional<Chosen> chosen_;
  std::stop_token stop_;
  mutable Mutex stop_text_mutex_;  // work that does not end in time is left beside it
  std::string stop_text_ STOKER_GUARDED_BY(stop_text_mutex_);
  Json report_ = Json::object();
  bool is_stdout_taken_ = false;  // by an output named "-"
};

}  // namespace stoker::cli
