// The packed layout's order: utterances end to end in bins of one fixed size, nearly without waste.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/feed/sampling/epoch_plan.h"
#include "stoker/feed/sampling/sampler_settings.h"

namespace stoker::feed {

// Immutable once sized. A bin is a row of a packed batch: batch_multiple bins make a batch.
class PackedBins {
 public:
  PackedBins() = default;
  // Sizes the bins so that an epoch fills whole batches: a little below batch_frames rather than
  // one batch that is mostly empty. Throws ConfigError when the longest row does not fit.
  PackedBins(const std::vector<SampledUtterance>& rows, const SamplerSettings& settings);

  // B = bins of a batch, T = frames and L = tokens of one bin.
  const BatchShape& shape() const { return shape_; }
  // The most utterances one bin can hold.
  std::uint32_t max_rows_per_bin() const { return max_rows_; }

  // Cuts plan.rows (already in the epoch's shuffled order) into bins: each is filled in order, and
  // its end by the row of the next few hundred that fits best. Rows are moved, never lost.
  void pack(const std::vector<SampledUtterance>& rows, EpochPlan& plan) const;

 private:
  BatchShape shape_;
  std::uint32_t max_rows_ = 0;
  bool drop_last_ = false;
  bool keep_order_ = false;
};

}  // namespace stoker::feed
