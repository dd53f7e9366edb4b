// Runs the real program the way a user does, and keeps what it printed.
#pragma once

#include <string>

namespace stoker::cli {

struct ProgramRun {
  int exit_code = -1;
  std::string out;
  std::string err;
};

// `arguments` is a shell command line after the program's name; `environment` is put before it
// ("NAME=value NAME=value").
ProgramRun run_program(const std::string& arguments, const std::string& environment = "");

// A new empty folder that is removed with the process.
std::string fresh_folder();
void write_text(const std::string& path, const std::string& text);
std::string read_text(const std::string& path);

}  // namespace stoker::cli
