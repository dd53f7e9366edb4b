#include "stoker/base/thread/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <vector>

#include "stoker/base/thread/sync.h"

namespace stoker {

void run_parallel(unsigned num_workers, std::size_t num_items,
                  const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr first;
  const auto fail = [&] {
    if (!failed.exchange(true)) first = std::current_exception();
  };
  const auto body = [&] {
    for (std::size_t i = next++; i < num_items && !failed; i = next++) {
      try {
        work(i);
      } catch (...) {
        fail();
      }
    }
  };
  const std::size_t num_threads = std::min<std::size_t>(num_workers, num_items);
  if (num_threads <= 1) {
    body();
  } else {
    std::vector<Thread> threads;
    try {
      for (std::size_t i = 0; i < num_threads; ++i)
        threads.emplace_back("stoker-cache", [&body](const std::stop_token&) { body(); });
    } catch (...) {
      fail();  // those that run begin no further item
    }
    for (Thread& thread : threads) thread.join();
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace stoker
