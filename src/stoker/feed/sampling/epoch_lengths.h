// Finds the epoch and batch of a batch far ahead without planning the epochs before it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "stoker/feed/feed_state.h"
#include "stoker/feed/sampling/sampler.h"

namespace stoker::feed {

// How many batches each epoch has. Most orders have the same number in every epoch. Sources with a
// fractional weight bring other rows in each epoch, but the same again after at most 10^6 epochs;
// in between, padded and shuffled batches are counted without planning. The packed layout fills
// its bins differently after each shuffle, so there every epoch is planned, within a bound.
class EpochLengths {
 public:
  explicit EpochLengths(const Sampler& order);

  // The same batch counted from the first of its own epoch: `at.batch` may pass the end of
  // at.epoch, the result's is at most the length of its epoch. O(1) in at.batch. Throws
  // E-FEED-STATE past the last epoch, and where more rows would have to be planned than the bound
  // allows.
  FeedPosition find(FeedPosition at);

  // Batches of one epoch.
  std::uint64_t count(std::uint64_t epoch);

 private:
  // Rows of one source with neighbouring phases, of which each epoch draws some once more.
  struct PhaseRun {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    std::uint64_t extra_millionths = 0;
    std::uint32_t source = 0;

    std::uint64_t num_drawn(std::uint64_t epoch) const;
  };
  struct Bucket {
    std::uint64_t batch_rows = 1;
    bool spills = false;
    std::uint64_t num_fixed = 0;  // rows that come in every epoch, counted as often as they come
    std::vector<PhaseRun> runs;
  };

  // Neighbours of one source made one; sorted by source and phase.
  static std::vector<PhaseRun> joined(const std::vector<PhaseRun>& runs);
  void prepare_period();
  void prepare_buckets();
  std::uint64_t count_by_phases(std::uint64_t epoch) const;
  void check_bounds(std::uint64_t epoch) const;

  const Sampler& order_;
  std::uint64_t period_ = 1;     // epochs after which the lengths repeat; 0: never
  std::vector<Bucket> buckets_;  // empty: an epoch is planned to be counted
  std::uint64_t num_phase_runs_ = 0;
  std::uint64_t num_counted_ = 0;  // runs looked at so far
  std::uint64_t num_planned_ = 0;  // rows planned so far
  std::unique_ptr<EpochPlan> plan_;
};

}  // namespace stoker::feed
