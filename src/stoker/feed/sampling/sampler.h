// Which utterance is in which row of which batch: a pure function of data, settings, seed,
// epoch and batch index. docs/format/order.md defines it and has test vectors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stoker/feed/sampling/epoch_plan.h"
#include "stoker/feed/sampling/packed_bins.h"
#include "stoker/feed/sampling/ranks.h"
#include "stoker/feed/sampling/sampler_settings.h"

namespace stoker::feed {

// Immutable once built; safe to use from any thread.
class Sampler {
 public:
  // Finds the shapes. Throws ConfigError when the settings contradict each other or cannot hold the
  // longest row, DataError when there is no row.
  Sampler(std::vector<SampledUtterance> rows, SamplerSettings settings);

  // The fixed set of shapes of every epoch, ascending by length.
  const std::vector<BatchShape>& shapes() const { return shapes_; }
  const SamplerSettings& settings() const { return settings_; }
  const std::vector<SampledUtterance>& rows() const { return rows_; }

  // Writes the epoch's order into `plan`; O(rows).
  void plan_epoch(std::uint64_t epoch, EpochPlan& plan) const;

  // The most utterances that one batch can hold.
  std::size_t max_batch_rows() const;

  // Padding of a planned epoch: frames that carry no sound, empty rows counted, over all frames.
  double padding_share(const EpochPlan& plan) const;

 private:
  friend class EpochLengths;  // counts batches from the buckets and weights below

  // The most rows of a batch whose rows have this many frames.
  std::uint32_t most_rows(std::uint32_t num_frames) const;
  // How often the row comes in that epoch: its source's weight, fractions spread over epochs.
  std::uint32_t num_copies(std::uint32_t row, std::uint64_t epoch) const;
  bool ever_comes(std::uint32_t row) const;
  void prepare_weights();
  void prepare_buckets();
  void widen_for_file_order(std::uint64_t num_epoch_rows);
  void fill_buckets();
  void plan_shuffled(EpochPlan& plan) const;
  void plan_in_file_order(EpochPlan& plan) const;

  std::vector<SampledUtterance> rows_;
  SamplerSettings settings_;
  std::vector<BatchShape> shapes_;
  std::vector<bool> spills_;                     // by shape: leftovers go into the next one
  std::vector<std::uint32_t> bucket_rows_;       // rows sorted by bucket, then by index
  std::vector<std::size_t> bucket_begins_;       // one per shape, and the end
  std::vector<std::uint32_t> whole_passes_;      // by source
  std::vector<std::uint32_t> extra_millionths_;  // by source; the fraction of one more pass
  std::vector<std::uint32_t> phase_;             // by row, empty when every weight is whole
  PackedBins packed_;
};

}  // namespace stoker::feed
