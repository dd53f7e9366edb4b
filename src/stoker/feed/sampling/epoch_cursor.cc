#include "stoker/feed/sampling/epoch_cursor.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "stoker/base/invariant.h"
#include "stoker/base/number_text.h"
#include "stoker/feed/errors.h"

namespace stoker::feed {

EpochCursor::EpochCursor(std::shared_ptr<const Sampler> order, std::uint64_t first_epoch,
                         std::uint64_t kept_batches)
    : order_(std::move(order)), kept_batches_(kept_batches), asked_epoch_(first_epoch) {
  auto plan = std::make_shared<EpochPlan>();
  order_->plan_epoch(first_epoch, *plan);
  if (plan->batches.empty()) {
    raise({.code = &kFeedEmpty,
           .promised = "at least one full batch per epoch with drop_last",
           .found = grouped(plan->rows.size()) + " utterances, which fill none"});
  }
  {
    const Lock lock(mutex_);
    add(std::move(plan));
  }
  thread_ = Thread("stoker-plan", [this](const std::stop_token& stop) { plan_ahead(stop); });
}

EpochCursor::~EpochCursor() = default;

BatchPlace EpochCursor::locate(std::uint64_t sequence) {
  Lock lock(mutex_);
  while (known_.back().end_sequence <= sequence) plan_next(lock);
  // Of a small data set hundreds are known.
  const auto after = std::upper_bound(
      known_.begin(), known_.end(), sequence,
      [](std::uint64_t wanted, const Known& known) { return wanted < known.end_sequence; });
  check_invariant(after->first_sequence <= sequence, "a batch of a forgotten epoch");
  BatchPlace place{after->plan, sequence - after->first_sequence};
  if (place.plan->epoch > asked_epoch_) {
    asked_epoch_ = place.plan->epoch;
    asked_sequence_ = sequence;
    forget_before(sequence);
    changed_.notify_all();
  }
  return place;
}

std::uint64_t EpochCursor::num_batches(std::uint64_t epoch) {
  Lock lock(mutex_);
  while (known_.back().plan->epoch < epoch) plan_next(lock);
  const std::uint64_t first = known_.front().plan->epoch;
  check_invariant(first <= epoch, "the length of a forgotten epoch");
  return known_[epoch - first].plan->batches.size();
}

void EpochCursor::plan_next(Lock& lock) {
  if (is_planning_) {
    changed_.wait(lock, {});
    return;
  }
  const std::uint64_t epoch = known_.back().plan->epoch + 1;
  std::shared_ptr<EpochPlan> plan = take_memory();
  is_planning_ = true;
  lock.unlock();
  std::exception_ptr failure;
  try {
    order_->plan_epoch(epoch, *plan);
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  is_planning_ = false;
  changed_.notify_all();  // those who wait plan it themselves when this failed
  if (failure) std::rethrow_exception(failure);
  add(std::move(plan));
}

void EpochCursor::add(std::shared_ptr<EpochPlan> plan) {
  const std::uint64_t first = known_.empty() ? 0 : known_.back().end_sequence;
  const std::uint64_t end = first + plan->batches.size();
  known_.push_back({first, end, std::move(plan)});
}

void EpochCursor::forget_before(std::uint64_t sequence) {
  while (known_.size() > 1 && known_.front().end_sequence + kept_batches_ <= sequence) {
    memory_.push_back(std::move(known_.front().plan));
    known_.pop_front();
  }
}

// A plan that no worker looks at any more serves again, so epochs allocate nothing for their rows.
std::shared_ptr<EpochPlan> EpochCursor::take_memory() {
  for (auto& plan : memory_) {
    if (plan.use_count() > 1) continue;
    std::swap(plan, memory_.back());
    std::shared_ptr<EpochPlan> taken = std::move(memory_.back());
    memory_.pop_back();
    return taken;
  }
  return std::make_shared<EpochPlan>();
}

bool EpochCursor::is_far_enough() const {
  return known_.back().plan->epoch > asked_epoch_ &&
         known_.back().end_sequence > asked_sequence_ + kAheadBatches;
}

void EpochCursor::plan_ahead(const std::stop_token& stop) {
  try {
    Lock lock(mutex_);
    while (!stop.stop_requested()) {
      if (is_far_enough()) {
        changed_.wait(lock, stop);
      } else {
        plan_next(lock);
      }
    }
  } catch (const std::exception&) {
    // Nothing is planned ahead any more: whoever needs the epoch plans it and meets the failure.
  }
}

}  // namespace stoker::feed
