// `stoker bench peers`: starts the race against other loaders, which are Python libraries; its
// driver is in the source tree.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/base/io/paths.h"
#include "stoker/base/json.h"
#include "stoker/bench/errors.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"

namespace stoker::cli {
namespace {

namespace fs = std::filesystem;

struct PeersArguments {
  bool quick = false;
  unsigned num_rounds = 5;
  std::string out;
};

// The first folder above the present one, or above the program, that holds the driver.
std::optional<fs::path> find_source_tree(const fs::path& program) {
  std::error_code ignored;  // the present folder may have been removed
  for (const fs::path& start : {fs::current_path(ignored), program.parent_path()}) {
    if (!start.is_absolute()) continue;
    for (fs::path folder = start;; folder = folder.parent_path()) {
      if (fs::exists(folder / "bench" / "peers" / "feed.py", ignored)) return folder;
      if (folder == folder.root_path()) break;
    }
  }
  return std::nullopt;
}

// Starts a program in `folder` with its words on stderr. 0 or an errno.
int spawn_in(const fs::path& folder, std::vector<std::string>& command, pid_t& child) {
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);  // this process has signals blocked
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const int failed =
      posix_spawnp(&child, argv.front(), &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return failed;
}

// Runs Python, that of tools/bootstrap if it is there, and waits. A stop is passed on.
int run_python(const fs::path& tree, std::vector<std::string> command,
               const std::stop_token& stop) {
  const fs::path own = tree / ".venv" / "bin" / "python3";
  command.insert(command.begin(), fs::exists(own) ? own.string() : "python3");
  pid_t child = 0;
  if (const int failed = spawn_in(tree, command, child); failed != 0) {
    raise({.code = &bench::kBenchPeers,
           .promised = "python3 on PATH",
           .found = std::error_code(failed, std::generic_category()).message()});
  }
  const std::stop_callback pass_on(stop, [child] { kill(child, SIGTERM); });
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::vector<std::string> driver_arguments(const PeersArguments& arguments, const fs::path& program,
                                          const fs::path& out) {
  std::vector<std::string> all{
      "-m",    "bench.peers.feed", "--stoker", program.string(),
      "--out", out.string(),       "--rounds", std::to_string(arguments.num_rounds)};
  if (arguments.quick) all.emplace_back("--quick");
  return all;
}

void put_report(CommandContext& context, const fs::path& file) {
  std::ostringstream content;
  content << std::ifstream(file).rdbuf();
  const std::optional<Json> found = Json::parse(content.str());
  if (!found) {
    raise({.code = &bench::kBenchPeers,
           .place = {.file = file.string()},
           .promised = "the race's report",
           .found = "no JSON"});
  }
  for (const char* const key : {"complete", "rows", "tuning", "resume", "damage", "not_run"})
    context.report()[key] = found->at(key);
  for (const Json& row : found->at("rows").elements()) {
    context.print(fmt::format("{:<20}{:<8}{:>12.0f} clips/s best, {:.0f} median",
                              row.at("name").text(), row.at("path").text(),
                              row.at("clips_per_s").number(),
                              row.at("median_clips_per_s").number()));
  }
  context.print(fmt::format("report: {}", file.string()));
}

// A smoke test never takes the place of figures on record.
fs::path results_folder(const PeersArguments& arguments, const fs::path& tree) {
  if (!arguments.out.empty()) return real_path(arguments.out);
  return arguments.quick ? fs::temp_directory_path() / "stoker-peers-quick"
                         : tree / "bench" / "results";
}

ExitCode run(CommandContext& context, const PeersArguments& arguments) {
  const fs::path program = fs::read_symlink("/proc/self/exe");
  const std::optional<fs::path> tree = find_source_tree(program);
  if (!tree) {
    raise({.code = &bench::kBenchPeers,
           .promised = "bench/peers/feed.py above the present folder or the program",
           .found = "none"});
  }
  const fs::path out = results_folder(arguments, *tree);
  const int status =
      run_python(*tree, driver_arguments(arguments, program, out), context.stop_token());
  put_report(context, out / "peers-feed.json");
  return status == 0 ? ExitCode::kDone : ExitCode::kCheckFailed;
}

}  // namespace

void add_bench_peers_command(const Command& app, CommandContext& context) {
  const Command group = app.group("bench", "Benchmarks that check their own result");
  const Command command = group.add_command(
      "peers", "The feed beside eight loaders, torch DataLoader among them; from a source tree");
  auto arguments = std::make_shared<PeersArguments>();
  command.add_flag("--quick", arguments->quick, "One round, few clips: does everything work?");
  command.add_option("--rounds", arguments->num_rounds, "Times that each takes its turn")
      .in_range(1, 100)
      .show_default();
  command.add_option("--out", arguments->out,
                     "Folder for the report (bench/results; with --quick a temporary one)");
  context.on(command, [&context, arguments] { return run(context, *arguments); });
}

}  // namespace stoker::cli
