// Where the buckets end and how many rows their batches have: a fixed set of shapes that wastes few
// frames, however few or uneven the utterances are.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace stoker::feed {

// Utterances of one padded length.
struct LengthClass {
  std::uint32_t num_frames = 0;  // a multiple of 8
  std::uint64_t num_rows = 0;    // in epoch 0
};

// Counts utterances by length. Classes are multiples of 8 frames up to 2,048 and a constant share
// of the length above; where more than 320 of them occur, the grid is made coarser everywhere. A
// few very long utterances therefore add a few classes and leave those of the others alone.
class LengthCounts {
 public:
  // Precondition: num_frames is at most 2^31.
  void add(std::uint32_t num_frames, std::uint64_t num_rows);
  // Those that occur, ascending.
  std::vector<LengthClass> classes() const;

 private:
  std::vector<LengthClass> counts_;  // by place in the finest grid; num_frames 0: does not occur
};

struct BucketSearch {
  std::uint32_t max_shapes = 48;
  std::uint32_t batch_multiple = 1;
  bool is_by_size = false;  // batches have the most rows, but where a bucket has fewer
  bool drop_last = false;
  // Sources of fractional weight: each brings a bucket up to one row more or less in other epochs.
  std::uint32_t num_fractional = 0;
  // The most rows of a batch whose rows have this many frames; a multiple of batch_multiple.
  std::function<std::uint32_t(std::uint32_t num_frames)> most_rows;
};

struct Bucket {
  std::uint32_t num_frames = 0;  // of its longest class
  std::uint32_t batch_rows = 0;
  bool spills = false;  // rows that fill no batch go into the next longer bucket

  bool operator==(const Bucket&) const = default;
};

// Chooses at most max_shapes buckets, ascending, the last class always among their ends, so that
// the cost of an epoch is as small as possible: its frames, and a little for each batch and each
// shape. `classes` ascend by length. Dynamic programming over (buckets, class) that keeps the best
// few leftover counts of each cell; pure integers, so every machine finds the same buckets.
std::vector<Bucket> find_buckets(const std::vector<LengthClass>& classes,
                                 const BucketSearch& search);

}  // namespace stoker::feed
