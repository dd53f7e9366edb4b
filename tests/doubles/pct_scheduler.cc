#include "tests/doubles/pct_scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "stoker/base/invariant.h"
#include "tests/doubles/pct_threads.h"

namespace stoker {
namespace {

thread_local Scheduler::ThreadId this_thread_id = -1;

void print_and_abort(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

}  // namespace

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
  // Not a scheduling point: a switch inside the callback would block its destructor without end.
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
