#include <csignal>
#include <string_view>

#include "stoker/cli/memory_end.h"
#include "stoker/cli/program.h"

namespace {

bool wants_json(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]) == "--json") return true;
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  using stoker::cli::MemoryReport;
  stoker::cli::end_by_name_without_memory(wants_json(argc, argv) ? MemoryReport::kJson
                                                                 : MemoryReport::kText);
  // A write past `ulimit -f` then fails with EFBIG, which has an error line; the signal has none.
  std::signal(SIGXFSZ, SIG_IGN);
  return stoker::cli::Program().run(argc, argv);
}
