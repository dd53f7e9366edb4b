// Turns SIGINT and SIGTERM into a stop token, and makes sure the process ends within two seconds.
#pragma once

#include <atomic>
#include <functional>
#include <stop_token>
#include <thread>

namespace stoker::cli {

// Blocks both signals in the thread that constructs it (and so in all threads started later) and
// waits for them in a thread of its own. The first signal requests a stop; a second one, or 1.8 s
// without an end, leaves the process at once with 128 + signal, after `last_words`, which run
// beside the work. Construct once, before other threads. The constructor throws MemoryError
// (E-THREAD-START) where no thread can be started.
class StopSignals {
 public:
  explicit StopSignals(std::function<void(int signal)> last_words = {});
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  std::stop_token token() const noexcept { return source_.get_token(); }
  int received() const noexcept { return received_.load(); }  // the first signal, or 0

 private:
  void watch();

  std::function<void(int signal)> last_words_;
  std::stop_source source_;
  std::atomic<int> received_{0};
  std::atomic<bool> leaving_{false};
  std::thread watcher_;
};

}  // namespace stoker::cli
