#include "stoker/cache/read/sigbus_guard.h"

#include <csetjmp>
#include <csignal>
#include <cstdint>

namespace stoker::cache {
namespace {

struct Guard {
  const std::byte* begin;
  const std::byte* end;
  sigjmp_buf back;
  Guard* outer;
};

thread_local Guard* t_guard = nullptr;

struct Restore {
  Guard* outer;
  ~Restore() { t_guard = outer; }
};

struct sigaction g_before;

void pass_on(int signal_number, siginfo_t* info, void* context) {
  if ((g_before.sa_flags & SA_SIGINFO) != 0 && g_before.sa_sigaction != nullptr) {
    g_before.sa_sigaction(signal_number, info, context);
  } else if (g_before.sa_handler != SIG_DFL && g_before.sa_handler != SIG_IGN) {
    g_before.sa_handler(signal_number);
  } else {
    // Back to the default; the instruction faults again on return and ends the process.
    signal(SIGBUS, SIG_DFL);
  }
}

void on_sigbus(int signal_number, siginfo_t* info, void* context) {
  const auto* at = static_cast<const std::byte*>(info->si_addr);
  Guard* guard = t_guard;
  if (guard != nullptr && at >= guard->begin && at < guard->end) siglongjmp(guard->back, 1);
  pass_on(signal_number, info, context);
}

bool install_handler() {
  struct sigaction action = {};
  action.sa_sigaction = on_sigbus;
  // Not deferred, because leaving the handler by a jump must not leave the signal blocked.
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, &g_before);
  return true;
}

}  // namespace

bool run_guarded(std::span<const std::byte> memory, void (*body)(void*), void* context) {
  static const bool installed = install_handler();
  Guard guard{memory.data(), memory.data() + memory.size(), {}, t_guard};
  // Also when `body` throws: the guard must not outlive this call.
  const Restore restore{guard.outer};
  if (sigsetjmp(guard.back, 0) != 0) return false;
  t_guard = &guard;
  body(context);
  return installed;
}

}  // namespace stoker::cache
