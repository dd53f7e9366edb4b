#include "tests/cli/program_run.h"

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace stoker::cli {
namespace {

struct TempFolders {
  ~TempFolders() {
    for (const std::string& path : paths) std::filesystem::remove_all(path);
  }
  std::vector<std::string> paths;
};

}  // namespace

std::string fresh_folder() {
  static TempFolders folders;
  std::string pattern = (std::filesystem::temp_directory_path() / "stoker-cli-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folders.paths.push_back(pattern);
  return pattern;
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string read_text(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

ProgramRun run_program(const std::string& arguments, const std::string& environment) {
  static const std::string folder = fresh_folder();
  const std::string command = "{ " + environment + " '" STOKER_PROGRAM "' " + arguments + "\n} >" +
                              folder + "/out 2>" + folder + "/err";
  const int status = std::system(command.c_str());
  ProgramRun run;
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  run.out = read_text(folder + "/out");
  run.err = read_text(folder + "/err");
  return run;
}

}  // namespace stoker::cli
