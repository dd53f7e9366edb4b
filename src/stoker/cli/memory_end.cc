#include "stoker/cli/memory_end.h"

#include <unistd.h>

#include <exception>
#include <new>
#include <string_view>

#include "stoker/base/error.h"

namespace stoker::cli {
namespace {

// Texts made before, because there is no memory to make them.
constexpr std::string_view kNoMemory =
    "error[E-MEMORY]: out of memory\n"
    "help: lower data.buffer_memory, or raise the process's limit\n";
constexpr std::string_view kNoMemoryJson =
    R"({"command":"","ok":false,"error":{"code":"E-MEMORY","message":"error[E-MEMORY]: out of memory"}})"
    "\n";

std::terminate_handler g_before = nullptr;
MemoryReport g_report = MemoryReport::kText;

// Straight to the kernel: a stream may be locked by the thread that ran out of memory.
void put(int handle, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(handle, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

// What allocates without operator new throws std::bad_alloc by itself, perhaps in a thread.
[[noreturn]] void on_terminate() {
  try {
    if (std::current_exception() != nullptr) throw;
  } catch (const std::bad_alloc&) {
    end_without_memory();
  } catch (...) {
    // A bug: the handler before says what it was.
  }
  g_before();
  ::_exit(128 + 6);
}

}  // namespace

void end_without_memory() {
  put(STDERR_FILENO, kNoMemory);
  if (g_report == MemoryReport::kJson) put(STDOUT_FILENO, kNoMemoryJson);
  ::_exit(static_cast<int>(ExitCode::kMemory));
}

void end_by_name_without_memory(MemoryReport report) {
  g_report = report;
  g_before = std::set_terminate(on_terminate);
  std::set_new_handler(end_without_memory);
}

}  // namespace stoker::cli
