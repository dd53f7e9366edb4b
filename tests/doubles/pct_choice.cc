// The part of PctScheduler that decides which thread runs next.
#include <algorithm>

#include "tests/doubles/pct_threads.h"

namespace stoker {
namespace {

// One wake-up in this many steps comes without cause, or as an early deadline.
constexpr std::uint64_t kOddWakeOneIn = 32;

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  return (hash ^ value) * 0x9E3779B97F4A7C15ULL + 0x632BE59BD9B4E019ULL;
}

}  // namespace

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

}  // namespace stoker
