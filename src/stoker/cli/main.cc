// The process around the program: whatever goes wrong outside a command, also for want of memory,
// ends with an error line and its exit code.
#include <unistd.h>

#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/base/out_of_memory.h"
#include "stoker/cli/program.h"
#include "stoker/cli/terminal.h"

namespace {

constexpr int kBugExit = 134;

// Texts made before, because there is no memory to make them.
constexpr std::string_view kNoMemory =
    "error[E-MEMORY]: out of memory\n"
    "help: lower data.buffer_memory, or raise the process's limit\n";
constexpr std::string_view kNoMemoryJson =
    R"({"command":"","ok":false,"error":{"code":"E-MEMORY","message":"error[E-MEMORY]: out of memory"}})"
    "\n";

bool g_wants_json = false;

// Straight to the kernel: a stream may be locked by the thread that ran out of memory.
void put(int handle, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(handle, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

// At once: what would follow an exception is code of libraries too, whose destructors allocate or
// meet objects that are half made. Nothing on disk is lost by it: whatever is written there may end
// at any call. For the program only; a library leaves memory to its host.
[[noreturn]] void end_without_memory() {
  put(STDERR_FILENO, kNoMemory);
  if (g_wants_json) put(STDOUT_FILENO, kNoMemoryJson);
  ::_exit(static_cast<int>(stoker::ExitCode::kMemory));
}

struct ProgramPart;

}  // namespace

int main(int argc, char** argv) {
  g_wants_json = stoker::cli::wants_json(argc, argv);
  stoker::set_library_out_of_memory(end_without_memory);
  stoker::OutOfMemoryHandlers<ProgramPart>::set(end_without_memory);
  // A write past `ulimit -f` then fails with EFBIG, which has an error line; the signal has none.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return stoker::cli::Program().run(argc, argv);
  } catch (const std::bad_alloc&) {
    end_without_memory();
  } catch (const std::exception& unexpected) {
    stoker::cli::write_line(
        std::string("error[E-BUG]: a failure outside of any command: ") + unexpected.what(),
        stoker::cli::Stream::kErr);
  }
  return kBugExit;
}
