#include "stoker/cli/stop_signals.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "stoker/base/errors.h"

namespace stoker::cli {
namespace {

constexpr timespec kGrace{.tv_sec = 1, .tv_nsec = 800'000'000};

sigset_t stop_set() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

// The destructor wakes the watcher with this one.
sigset_t watched_set() {
  sigset_t set = stop_set();
  sigaddset(&set, SIGUSR2);
  return set;
}

}  // namespace

StopSignals::StopSignals(std::function<void(int signal)> last_words)
    : last_words_(std::move(last_words)) {
  const sigset_t set = watched_set();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  try {
    watcher_ = std::thread([this] { watch(); });
  } catch (const std::system_error& refusal) {
    raise({.code = &kThreadStart,
           .promised = "a thread that waits for signals",
           .found = "none: " + refusal.code().message()});
  }
}

StopSignals::~StopSignals() {
  leaving_.store(true);
  pthread_kill(watcher_.native_handle(), SIGUSR2);
  watcher_.join();
}

void StopSignals::watch() {
  const sigset_t set = watched_set();
  int signal_number = 0;
  while (sigwait(&set, &signal_number) == 0 && !leaving_.load()) {
    if (signal_number == SIGUSR2) continue;
    received_.store(signal_number);
    source_.request_stop();
    break;
  }
  if (leaving_.load()) return;
  int second = 0;
  do {
    second = sigtimedwait(&set, nullptr, &kGrace);
  } while (second < 0 && errno == EINTR);
  if (leaving_.load()) return;
  if (last_words_) last_words_(received_.load());
  _exit(128 + received_.load());
}

}  // namespace stoker::cli
