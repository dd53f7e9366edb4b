// The long loops behind `make torture`: kills, errors and power cuts at every call of a 50-row
// build.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "tests/cache/fault_loop.h"

using namespace stoker;
using namespace stoker::cache;

namespace {

int g_num_bad = 0;

void report(const std::string& name, const LoopResult& result) {
  fmt::print(
      "{:<34} {:>7} rounds, {:>7} broken, {} bad accepted, {} lost, {} different, {} false\n", name,
      result.num_rounds, result.num_broken, result.num_bad_accepted, result.num_lost,
      result.num_different, result.num_false_success);
  std::fflush(stdout);
  if (result.is_clean()) return;
  ++g_num_bad;
  fmt::print("  first: {}\n", result.first_problem);
}

struct ErrorLoop {
  const char* name;
  std::set<IoCall> calls;
  int error_number;
};

void run_errors(const LoopOptions& options) {
  const std::set<IoCall> moving{IoCall::kRead, IoCall::kWrite};
  const std::vector<ErrorLoop> loops{{"ENOSPC", kWritingCalls, ENOSPC},
                                     {"EDQUOT", kWritingCalls, EDQUOT},
                                     {"EIO on fsync", {IoCall::kSync}, EIO},
                                     {"EIO on close", {IoCall::kClose}, EIO},
                                     {"EIO on any call", {}, EIO},
                                     {"EMFILE", {IoCall::kOpen}, EMFILE},
                                     {"EINTR", moving, EINTR}};
  for (const ErrorLoop& loop : loops) {
    Fault fault;
    fault.calls = loop.calls;
    fault.error_number = loop.error_number;
    report(fmt::format("{}, {} workers", loop.name, options.num_workers),
           fail_at_every_call(options, fault));
  }
  Fault shorter;
  shorter.kind = Fault::Kind::kShort;
  shorter.calls = moving;
  report(fmt::format("short moves, {} workers", options.num_workers),
         fail_at_every_call(options, shorter));
}

}  // namespace

// torture_cache [ROWS [POWER_CUT_SEEDS]]: exit 1 when anything was lost, wrong or accepted.
int main(int argc, char** argv) {
  const std::size_t num_rows = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 50;
  const std::uint64_t num_seeds = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 100'000;
  for (const unsigned num_workers : {1U, 4U, 16U}) {
    const LoopOptions options{.num_rows = num_rows, .num_workers = num_workers, .step = 1};
    report(fmt::format("SIGKILL at every call, {} workers", num_workers),
           kill_at_every_call(options));
    run_errors(options);
  }
  report("power cut", cut_power({.num_rows = num_rows, .num_workers = 1, .step = 1}, num_seeds));
  return g_num_bad == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
