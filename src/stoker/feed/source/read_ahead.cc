#include "stoker/feed/source/read_ahead.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>
#include <vector>

namespace stoker::feed {
namespace {

constexpr std::chrono::seconds kEndLimit{1};

// A thread that storage holds up is kept until the process ends: nobody may wait for it.
void leave_behind(Thread thread) {
  static Mutex mutex;
  static auto& left = *new std::vector<Thread>;
  const Lock lock(mutex);
  left.push_back(std::move(thread));
}

}  // namespace

struct ReadAhead::Core {
  explicit Core(Parts given)
      : parts(std::move(given)), num_batches(std::min(parts.num_batches, kMostBatches)) {}

  void filling(std::uint64_t sequence) {
    std::uint64_t before = newest.load(std::memory_order_relaxed);
    while (before <= sequence &&
           !newest.compare_exchange_weak(before, sequence + 1, std::memory_order_relaxed)) {
    }
    // Half of the distance is left: waking the thread for each batch would cost more than it saves.
    const std::uint64_t ahead = num_batches.load(std::memory_order_relaxed);
    if (ahead == 0 || sequence + ahead / 2 < done.load(std::memory_order_relaxed)) return;
    const Lock lock(mutex);
    wake.notify_one();
  }

  // Only speed is lost where it ends early.
  void run(const std::stop_token& stop) noexcept {
    try {
      ask_ahead(stop);
    } catch (const std::exception&) {
    }
    const Lock lock(mutex);
    has_ended = true;
    ended.notify_all();
  }

  void ask_ahead(const std::stop_token& stop) {
    Lock lock(mutex);
    while (!stop.stop_requested()) {
      const std::uint64_t first = newest.load(std::memory_order_relaxed);
      const std::uint64_t ahead = num_batches.load(std::memory_order_relaxed);
      const std::uint64_t next = std::max(done.load(std::memory_order_relaxed), first);
      if (first == 0 || next >= first + ahead) {
        wake.wait(lock, stop);
        continue;
      }
      lock.unlock();
      ask(next);
      lock.lock();
    }
  }

  void ask(std::uint64_t sequence) {
    const BatchPlace place = parts.planner->locate(sequence);
    if (place.plan->epoch < parts.end_epoch) {
      parts.source->will_need(place.plan->view_rows(place.batch()));
      num_asked.fetch_add(1, std::memory_order_relaxed);
    }
    done.store(sequence + 1, std::memory_order_relaxed);
  }

  const Parts parts;
  std::atomic<unsigned> num_batches;
  std::atomic<std::uint64_t> newest{0};  // one past the newest batch being filled
  std::atomic<std::uint64_t> done{0};    // one past the newest batch asked for
  std::atomic<std::uint64_t> num_asked{0};
  Mutex mutex;
  ConditionVariable wake;
  ConditionVariable ended;
  bool has_ended STOKER_GUARDED_BY(mutex) = false;
};

ReadAhead::ReadAhead(Parts parts)
    : core_(std::make_shared<Core>(std::move(parts))),
      thread_("stoker-ahead", [core = core_](const std::stop_token& stop) { core->run(stop); }) {}

ReadAhead::~ReadAhead() {
  thread_.request_stop();
  Lock lock(core_->mutex);
  const Deadline deadline = Deadline::after(system_clock(), kEndLimit);
  while (!core_->has_ended) {
    if (core_->ended.wait_until(lock, {}, deadline) == WaitEnd::kDeadline) break;
  }
  const bool hangs = !core_->has_ended;
  lock.unlock();
  if (hangs) leave_behind(std::move(thread_));
}

void ReadAhead::filling(std::uint64_t sequence) { core_->filling(sequence); }

void ReadAhead::set_num_batches(unsigned num_batches) {
  core_->num_batches.store(std::min(num_batches, kMostBatches), std::memory_order_relaxed);
}

std::uint64_t ReadAhead::num_asked() const {
  return core_->num_asked.load(std::memory_order_relaxed);
}

}  // namespace stoker::feed
