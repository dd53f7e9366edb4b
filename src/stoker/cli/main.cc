// The outermost frame: whatever goes wrong outside a command, also for want of memory, ends with an
// error line and its exit code.
#include <unistd.h>

#include <csignal>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

#include "stoker/base/error.h"
#include "stoker/cli/memory_end.h"
#include "stoker/cli/program.h"

namespace {

// Texts made before, because there may be no memory to make them.
constexpr std::string_view kNoMemory =
    "error[E-MEMORY]: out of memory\nhelp: lower data.buffer_memory, or raise the process's "
    "limit\n";
constexpr std::string_view kNoMemoryJson =
    R"({"command":"","ok":false,"error":{"code":"E-MEMORY","message":"error[E-MEMORY]: out of memory"}})"
    "\n";
constexpr std::string_view kNoThread =
    "error[E-MEMORY]: no thread could be started\nhelp: raise the limit of processes (ulimit -u)\n";
constexpr std::string_view kBug = "error[E-BUG]: an unexpected failure outside of any command: ";
constexpr int kBugExit = 134;

void put(int handle, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(handle, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

int out_of_memory(std::string_view text, bool as_json) {
  put(STDERR_FILENO, text);
  if (as_json) put(STDOUT_FILENO, kNoMemoryJson);
  return static_cast<int>(stoker::ExitCode::kMemory);
}

int bug(const char* what) {
  put(STDERR_FILENO, kBug);
  put(STDERR_FILENO, what);
  put(STDERR_FILENO, "\n");
  return kBugExit;
}

}  // namespace

int main(int argc, char** argv) {
  const bool as_json = stoker::cli::wants_json(argc, argv);
  using stoker::cli::MemoryReport;
  stoker::cli::end_by_name_without_memory(as_json ? MemoryReport::kJson : MemoryReport::kText);
  // A write past `ulimit -f` then fails with EFBIG, which has an error line; the signal has none.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return stoker::cli::Program().run(argc, argv);
  } catch (const std::bad_alloc&) {
    return out_of_memory(kNoMemory, as_json);
  } catch (const std::system_error& refused) {
    if (refused.code() == std::errc::resource_unavailable_try_again)
      return out_of_memory(kNoThread, as_json);
    return bug(refused.what());
  } catch (const std::exception& unexpected) {
    return bug(unexpected.what());
  }
}
