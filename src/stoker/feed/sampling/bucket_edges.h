// Where the buckets end: a fixed set of padded lengths that wastes the fewest frames.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace stoker::feed {

// Utterances of one padded length.
struct LengthClass {
  std::uint32_t num_frames = 0;  // a multiple of 8
  std::uint64_t num_rows = 0;
};

struct EdgeSearch {
  std::uint32_t max_shapes = 48;
  bool drop_last = false;
  // Rows of one batch whose rows have this many frames; at least 1.
  std::function<std::uint32_t(std::uint32_t num_frames)> rows_per_batch;
};

// Chooses at most max_shapes of the classes' lengths as bucket edges (ascending, the last class
// always among them) so that the frames of all batches of an epoch, leftovers spilling into the
// next longer bucket, are as few as possible. `classes` ascend by length. Dynamic programming over
// (edges used, class) that keeps the best few leftover counts of each cell; pure integers, so every
// machine finds the same edges.
std::vector<std::uint32_t> find_bucket_edges(const std::vector<LengthClass>& classes,
                                             const EdgeSearch& search);

// Sorts lengths into classes: multiples of 8, coarser when there would be more than 256 of them.
std::vector<LengthClass> length_classes(const std::vector<std::uint32_t>& num_frames);

}  // namespace stoker::feed
