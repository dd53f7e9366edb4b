// Finds epoch and batch of a sequence number, and plans epochs ahead so that none begins with a
// wait.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "stoker/base/thread/sync.h"
#include "stoker/feed/sampling/sampler.h"

namespace stoker::feed {

struct BatchPlace {
  std::shared_ptr<const EpochPlan> plan;
  std::uint64_t index = 0;  // of the batch in its epoch

  const PlannedBatch& batch() const { return plan->batches[index]; }
  bool is_last() const { return index + 1 == plan->batches.size(); }
};

// Thread-safe. Sequence number 0 is batch 0 of the first epoch; numbers go on over epochs.
class EpochCursor {
 public:
  // `kept_batches`: as many may be under way between the largest number asked for and the smallest.
  // Throws DataError when the first epoch has no batch at all.
  EpochCursor(std::shared_ptr<const Sampler> order, std::uint64_t first_epoch,
              std::uint64_t kept_batches = kMemoryBatches);
  ~EpochCursor();

  // Precondition: not more than `kept_batches` before the largest number asked for so far.
  BatchPlace locate(std::uint64_t sequence);
  // Precondition: as above, for the epoch.
  std::uint64_t num_batches(std::uint64_t epoch);

  static constexpr std::uint64_t kMemoryBatches = 8192;
  // Epochs of a few batches are planned several ahead, so that no worker waits for the planner.
  static constexpr std::uint64_t kAheadBatches = 64;

 private:
  struct Known {
    std::uint64_t first_sequence = 0;
    std::uint64_t end_sequence = 0;  // of the last batch, and one more
    std::shared_ptr<EpochPlan> plan;
  };

  // Plans the next epoch, or waits for whoever does; leaves the lock in between.
  void plan_next(Lock& lock) STOKER_NO_THREAD_CHECK;
  void add(std::shared_ptr<EpochPlan> plan) STOKER_REQUIRES(mutex_);
  void forget_before(std::uint64_t sequence) STOKER_REQUIRES(mutex_);
  std::shared_ptr<EpochPlan> take_memory() STOKER_REQUIRES(mutex_);
  bool is_far_enough() const STOKER_REQUIRES(mutex_);
  void plan_ahead(const std::stop_token& stop);

  const std::shared_ptr<const Sampler> order_;
  const std::uint64_t kept_batches_;
  Mutex mutex_;
  ConditionVariable changed_;
  std::deque<Known> known_ STOKER_GUARDED_BY(mutex_);  // consecutive epochs
  std::vector<std::shared_ptr<EpochPlan>> memory_ STOKER_GUARDED_BY(mutex_);
  bool is_planning_ STOKER_GUARDED_BY(mutex_) = false;
  std::uint64_t asked_epoch_ STOKER_GUARDED_BY(mutex_);
  std::uint64_t asked_sequence_ STOKER_GUARDED_BY(mutex_) = 0;
  Thread thread_;
};

}  // namespace stoker::feed
