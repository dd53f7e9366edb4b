// The outermost frame: whatever goes wrong outside a command, also for want of memory, ends with an
// error line and its exit code.
#include <csignal>
#include <exception>
#include <new>
#include <string>

#include "stoker/cli/memory_end.h"
#include "stoker/cli/program.h"
#include "stoker/cli/terminal.h"

int main(int argc, char** argv) {
  constexpr int kBugExit = 134;
  stoker::cli::end_by_name_without_memory(stoker::cli::wants_json(argc, argv)
                                              ? stoker::cli::MemoryReport::kJson
                                              : stoker::cli::MemoryReport::kText);
  // A write past `ulimit -f` then fails with EFBIG, which has an error line; the signal has none.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return stoker::cli::Program().run(argc, argv);
  } catch (const std::bad_alloc&) {
    stoker::cli::end_without_memory();
  } catch (const std::exception& unexpected) {
    stoker::cli::write_line(
        std::string("error[E-BUG]: a failure outside of any command: ") + unexpected.what(),
        stoker::cli::Stream::kErr);
  }
  return kBugExit;
}
