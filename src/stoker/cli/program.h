// What is around all commands: parses the command line, runs the chosen command, and turns its
// end into output and exit code.
#pragma once

#include <span>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"

namespace stoker::cli {

// Whether --json is anywhere on the command line; for errors before it is parsed.
bool wants_json(int argc, char** argv);

class Program {
 public:
  explicit Program(std::span<const CommandGroup> groups = kCommandGroups) : groups_(groups) {}

  // Runs the whole command line and returns the process's exit code.
  int run(int argc, char** argv);

 private:
  void add_global_options(CommandLine& line);
  int parse(CommandLine& line, int argc, char** argv);
  int run_chosen();
  int finish(ExitCode code);
  int fail(const Error& error, int exit_code);
  int stopped(int signal_number);
  ExitCode show_version();
  void write_report(const Error* error);

  std::span<const CommandGroup> groups_;
  Stopwatch watch_;
  CommandContext context_;
  bool version_asked_ = false;
};

}  // namespace stoker::cli
