#include "tests/doubles/pct_scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "stoker/base/invariant.h"

namespace stoker {
namespace {

// One wake-up in this many steps comes without cause, or as an early deadline.
constexpr std::uint64_t kOddWakeOneIn = 32;

thread_local Scheduler::ThreadId this_thread_id = -1;

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  return (hash ^ value) * 0x9E3779B97F4A7C15ULL + 0x632BE59BD9B4E019ULL;
}

void print_and_abort(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

}  // namespace

struct PctScheduler::Managed {
  enum class State { kReady, kWantsMutex, kWaits, kJoins, kEnded };

  ThreadId id;
  std::string name;
  std::uint64_t priority;
  State state = State::kReady;
  const void* object = nullptr;     // mutex wanted, or condition waited for
  const void* reacquire = nullptr;  // mutex to own again after a wait
  std::optional<std::chrono::nanoseconds> deadline;
  WaitEnd end = WaitEnd::kNotified;
  ThreadId joins = -1;
  std::condition_variable turn;
};

class PctScheduler::VirtualClock final : public Clock {
 public:
  std::chrono::nanoseconds now() const override { return std::chrono::nanoseconds(now_ns_.load()); }
  std::int64_t unix_time_ns() const override { return now_ns_.load(); }
  void advance_to(std::chrono::nanoseconds at) {
    now_ns_ = std::max(now_ns_.load(), static_cast<std::int64_t>(at.count()));
  }

 private:
  std::atomic<std::int64_t> now_ns_{0};
};

PctScheduler::PctScheduler(const ScheduleKey& key, OnFailure on_failure)
    : key_(key),
      on_failure_(on_failure ? std::move(on_failure) : OnFailure(print_and_abort)),
      draws_({.seed = key.seed, .stage = "schedule", .epoch = 0, .item = 0}),
      clock_(std::make_unique<VirtualClock>()) {
  for (unsigned i = 1; i < key.depth; ++i)
    change_points_.push_back(1 + draws_.next_below(std::max<std::uint64_t>(1, key.expected_steps)));
}

PctScheduler::~PctScheduler() = default;

const Clock& PctScheduler::clock() const { return *clock_; }

void PctScheduler::run(const std::function<void()>& body) {
  check_invariant(installed_scheduler.load() == nullptr, "two schedulers at once");
  this_thread_id = create_thread("main");
  installed_scheduler.store(this);
  body();
  installed_scheduler.store(nullptr);
  this_thread_id = -1;
  const Guard guard(mutex_);
  for (std::size_t i = 1; i < threads_.size(); ++i)
    check_invariant(threads_[i]->state == Managed::State::kEnded, "a thread outlives its schedule");
}

bool PctScheduler::manages_this_thread() const noexcept { return this_thread_id >= 0; }

PctScheduler::Managed& PctScheduler::self() {
  return *threads_[static_cast<std::size_t>(this_thread_id)];
}

bool PctScheduler::can_run(const Managed& thread) const {
  switch (thread.state) {
    case Managed::State::kReady:
      return true;
    case Managed::State::kWantsMutex:
      return !owned_mutexes_.contains(thread.object);
    case Managed::State::kJoins:
      return threads_[static_cast<std::size_t>(thread.joins)]->state == Managed::State::kEnded;
    case Managed::State::kWaits:
    case Managed::State::kEnded:
      return false;
  }
  return false;
}

PctScheduler::Managed* PctScheduler::highest_that_can_run() {
  Managed* best = nullptr;
  for (const auto& thread : threads_)
    if (can_run(*thread) && (best == nullptr || thread->priority > best->priority))
      best = thread.get();
  return best;
}

PctScheduler::Managed* PctScheduler::walk_on() {
  Managed& current = *threads_[static_cast<std::size_t>(running_)];
  if (can_run(current) && draws_.next_below(key_.switch_one_in) != 0) return &current;
  std::vector<Managed*> able;
  for (const auto& thread : threads_)
    if (can_run(*thread)) able.push_back(thread.get());
  return able.empty() ? nullptr : able[draws_.next_below(able.size())];
}

void PctScheduler::wake(Managed& thread, WaitEnd end) {
  thread.state = Managed::State::kWantsMutex;
  thread.object = thread.reacquire;
  thread.end = end;
}

PctScheduler::Managed* PctScheduler::fire_earliest_deadline() {
  Managed* first = nullptr;
  for (const auto& thread : threads_)
    if (thread->state == Managed::State::kWaits && thread->deadline &&
        (first == nullptr || *thread->deadline < *first->deadline))
      first = thread.get();
  if (first == nullptr) return nullptr;
  clock_->advance_to(*first->deadline);
  wake(*first, WaitEnd::kDeadline);
  return highest_that_can_run();
}

// Real waits wake without cause and real deadlines pass while others still run.
void PctScheduler::wake_sometimes() {
  if (draws_.next_below(kOddWakeOneIn) != 0) return;
  Managed& thread = *threads_[draws_.next_below(threads_.size())];
  if (thread.state != Managed::State::kWaits) return;
  if (thread.deadline) clock_->advance_to(*thread.deadline);
  wake(thread, thread.deadline ? WaitEnd::kDeadline : WaitEnd::kNotified);
}

void PctScheduler::demote_at_change_points() {
  for (std::size_t i = 0; i < change_points_.size(); ++i)
    if (change_points_[i] == num_steps_) threads_[static_cast<std::size_t>(running_)]->priority = i;
}

PctScheduler::Managed* PctScheduler::choose() {
  if (++num_steps_ > kMaxSteps) fail("no end in sight");
  demote_at_change_points();
  wake_sometimes();
  Managed* next = key_.switch_one_in == 0 ? highest_that_can_run() : walk_on();
  if (next == nullptr) next = fire_earliest_deadline();
  const bool all_ended = std::all_of(threads_.begin(), threads_.end(), [](const auto& thread) {
    return thread->state == Managed::State::kEnded;
  });
  if (next == nullptr && !all_ended) fail("deadlock");
  if (next != nullptr) trace_hash_ = mix(trace_hash_, static_cast<std::uint64_t>(next->id));
  return next;
}

void PctScheduler::hand_over(Managed& next) {
  running_ = next.id;
  next.turn.notify_one();
}

void PctScheduler::await_turn(Guard& guard, Managed& me) {
  me.turn.wait(guard, [&] { return running_ == me.id; });
}

void PctScheduler::switch_from(Guard& guard, Managed& me) {
  Managed* const next = choose();
  if (next == nullptr) return;
  hand_over(*next);
  await_turn(guard, me);
}

void PctScheduler::pass() {
  Guard guard(mutex_);
  switch_from(guard, self());
}

void PctScheduler::take(Managed& me, const void* mutex) {
  owned_mutexes_.insert(mutex);
  me.state = Managed::State::kReady;
  me.object = nullptr;
}

void PctScheduler::acquire(const void* mutex) {
  Guard guard(mutex_);
  Managed& me = self();
  me.state = Managed::State::kWantsMutex;
  me.object = mutex;
  switch_from(guard, me);
  take(me, mutex);
}

bool PctScheduler::try_acquire(const void* mutex) {
  Guard guard(mutex_);
  switch_from(guard, self());
  return owned_mutexes_.insert(mutex).second;
}

void PctScheduler::release(const void* mutex) {
  Guard guard(mutex_);
  owned_mutexes_.erase(mutex);
  switch_from(guard, self());
}

WaitEnd PctScheduler::wait(const Wait& wait) {
  Managed* me = nullptr;
  {
    const Guard guard(mutex_);
    me = &self();
    if (wait.stop.stop_requested()) return WaitEnd::kStopped;
    owned_mutexes_.erase(wait.mutex);
    me->state = Managed::State::kWaits;
    me->object = wait.condition;
    me->reacquire = wait.mutex;
    me->deadline = wait.deadline;
  }
  // Not a scheduling point: a switch inside the callback would block its destructor for ever.
  const std::stop_callback on_stop(wait.stop, [&] {
    const Guard guard(mutex_);
    if (me->state == Managed::State::kWaits) wake(*me, WaitEnd::kStopped);
  });
  Guard guard(mutex_);
  switch_from(guard, *me);
  take(*me, wait.mutex);
  me->deadline.reset();
  return wait.stop.stop_requested() ? WaitEnd::kStopped : me->end;
}

void PctScheduler::notify(const void* condition, std::size_t most) {
  Guard guard(mutex_);
  std::vector<Managed*> waiting;
  for (const auto& thread : threads_)
    if (thread->state == Managed::State::kWaits && thread->object == condition)
      waiting.push_back(thread.get());
  for (; most > 0 && !waiting.empty(); --most) {
    const auto chosen =
        waiting.begin() + static_cast<std::ptrdiff_t>(draws_.next_below(waiting.size()));
    wake(**chosen, WaitEnd::kNotified);
    waiting.erase(chosen);
  }
  switch_from(guard, self());
}

void PctScheduler::notify_one(const void* condition) { notify(condition, 1); }

void PctScheduler::notify_all(const void* condition) { notify(condition, threads_.size()); }

Scheduler::ThreadId PctScheduler::create_thread(const std::string& name) {
  const Guard guard(mutex_);
  const auto id = static_cast<ThreadId>(threads_.size());
  auto thread = std::make_unique<Managed>();
  thread->id = id;
  thread->name = name;
  // Above every demoted priority; ties are broken by age, the same way each time.
  thread->priority = key_.depth + draws_.next_u32();
  threads_.push_back(std::move(thread));
  return id;
}

void PctScheduler::begin_thread(ThreadId id) {
  this_thread_id = id;
  Guard guard(mutex_);
  await_turn(guard, self());
}

void PctScheduler::end_thread(ThreadId) {
  Guard guard(mutex_);
  self().state = Managed::State::kEnded;
  this_thread_id = -1;
  if (Managed* const next = choose()) hand_over(*next);
}

void PctScheduler::await_end(ThreadId id) {
  Guard guard(mutex_);
  Managed& me = self();
  me.state = Managed::State::kJoins;
  me.joins = id;
  switch_from(guard, me);
  me.state = Managed::State::kReady;
}

std::string PctScheduler::describe() const {
  std::string text;
  for (const auto& thread : threads_) {
    constexpr const char* kStates[] = {"is ready", "wants a mutex that is held",
                                       "waits to be notified", "joins a thread", "has ended"};
    text += fmt::format("\n  thread {} '{}' {}", thread->id, thread->name,
                        kStates[static_cast<std::size_t>(thread->state)]);
  }
  return text;
}

void PctScheduler::fail(const std::string& what) {
  on_failure_(fmt::format("schedule failed: {} after {} steps, {}{}", what, num_steps_, key_.text(),
                          describe()));
  std::abort();
}

}  // namespace stoker
