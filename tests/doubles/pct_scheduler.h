// Runs threads one at a time in an order drawn from a seed (probabilistic concurrency testing:
// Burckhardt et al., 2010), so that a rare interleaving can be found and then replayed exactly.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/philox.h"
#include "stoker/base/thread/scheduler.h"

namespace stoker {

// Everything a schedule depends on: equal keys give equal schedules.
struct ScheduleKey {
  std::uint64_t seed = 0;
  unsigned depth = 3;                  // ordering constraints a bug may need; depth - 1 demotions
  std::uint64_t expected_steps = 256;  // demotions fall among these
  // 0: by priorities. Else a random walk: one step in so many switches to any thread that can run,
  // which finds races that need several switches close together.
  unsigned switch_one_in = 0;
  std::string text() const;  // "seed=7 depth=3 expected_steps=256 switch_one_in=0"
};

// While run() is active, the calling thread and every stoker::Thread started below it are managed.
// A deadlock, or no end within kMaxSteps, goes to `on_failure` with the key and what each thread
// waits for; it must not return (the default writes to stderr and aborts).
class PctScheduler final : public Scheduler {
 public:
  static constexpr std::uint64_t kMaxSteps = 1'000'000;
  using OnFailure = std::function<void(const std::string&)>;

  explicit PctScheduler(const ScheduleKey& key, OnFailure on_failure = {});
  ~PctScheduler() override;

  // `body` must join every thread it starts.
  void run(const std::function<void()>& body);

  std::uint64_t num_steps() const { return num_steps_; }
  std::uint64_t trace_hash() const { return trace_hash_; }  // over every choice made
  // Virtual time: it advances only when a timed wait ends by its deadline.
  const Clock& clock() const;

  bool manages_this_thread() const noexcept override;
  void pass() override;
  void acquire(const void* mutex) override;
  bool try_acquire(const void* mutex) override;
  void release(const void* mutex) override;
  WaitEnd wait(const Wait& wait) override;
  void notify_one(const void* condition) override;
  void notify_all(const void* condition) override;
  ThreadId create_thread(const std::string& name) override;
  void begin_thread(ThreadId id) override;
  void end_thread(ThreadId id) override;
  void await_end(ThreadId id) override;

 private:
  struct Managed;
  class VirtualClock;
  using Guard = std::unique_lock<std::mutex>;

  bool can_run(const Managed& thread) const;
  Managed* choose();
  Managed* highest_that_can_run();
  Managed* walk_on();
  Managed* fire_earliest_deadline();
  void wake(Managed& thread, WaitEnd end);
  void wake_sometimes();
  void demote_at_change_points();
  void switch_from(Guard& guard, Managed& self);
  void hand_over(Managed& next);
  void await_turn(Guard& guard, Managed& self);
  void take(Managed& self, const void* mutex);
  void notify(const void* condition, std::size_t most);
  [[noreturn]] void fail(const std::string& what);
  std::string describe() const;
  Managed& self();

  ScheduleKey key_;
  OnFailure on_failure_;
  KeyedDraws draws_;
  std::mutex mutex_;  // guards all below
  std::vector<std::unique_ptr<Managed>> threads_;
  std::set<const void*> owned_mutexes_;
  std::vector<std::uint64_t> change_points_;
  ThreadId running_ = 0;
  std::uint64_t num_steps_ = 0;
  std::uint64_t trace_hash_ = 0;
  std::unique_ptr<VirtualClock> clock_;
};

struct Exploration {
  std::uint64_t num_schedules = 0;
  std::uint64_t num_distinct = 0;  // by trace
  std::uint64_t longest_steps = 0;
};

// Runs `body` under `num_schedules` keys with seeds from `first_seed`, every other one as a random
// walk; the expected length is learned from a first run, so that demotions fall inside the body.
Exploration explore_schedules(std::uint64_t num_schedules, std::uint64_t first_seed,
                              const std::function<void(PctScheduler&)>& body);

}  // namespace stoker
