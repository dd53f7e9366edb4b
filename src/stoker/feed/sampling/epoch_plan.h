// The whole order of one epoch, laid out so that batch k is found without looking at the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stoker::feed {

// Rows [first_row, first_row + num_rows) of the plan, in a batch of shapes()[shape_index]; what the
// shape has beyond num_rows stays empty.
struct PlannedBatch {
  std::uint32_t shape_index = 0;
  std::uint32_t first_row = 0;
  std::uint32_t num_rows = 0;
};

// Reused from epoch to epoch: planning again allocates nothing once the vectors have their size.
struct EpochPlan {
  std::uint64_t epoch = 0;
  std::vector<std::uint32_t> rows;  // index of each row in the data, batch after batch
  std::vector<PlannedBatch> batches;
  // Packed only: bin b of the epoch holds rows [bin_begins[b], bin_begins[b + 1]).
  std::vector<std::uint32_t> bin_begins;

  std::span<const std::uint32_t> view_rows(const PlannedBatch& batch) const {
    return std::span(rows).subspan(batch.first_row, batch.num_rows);
  }
};

}  // namespace stoker::feed
