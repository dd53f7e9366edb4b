// The largest batch that fits into device memory: probes a few sizes, fits what a step takes, and
// proves the result with a probe of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/train/loop/learner.h"

namespace stoker::train {

// bytes = fixed + per_frame * frames + per_cell * cells, where the cells are those of the
// alignment: states of tokens times frames, row by row, which grow with the square of a text.
struct StepBytes {
  double fixed = 0;
  double per_frame = 0;
  double per_cell = 0;

  double of(const StepShape& shape) const;
};
double alignment_cells(const StepShape& shape);

struct ProbedStep {
  StepShape shape;
  std::uint64_t bytes = 0;
};
// Least squares with no part below 0; at least one probe.
StepBytes fit_bytes(std::span<const ProbedStep> probes);

struct BatchSizing {
  std::uint32_t batch_frames = 0;
  std::uint64_t bytes = 0;  // that the probe of the largest shape took
  std::uint64_t allowed_bytes = 0;
  std::size_t num_probes = 0;
  bool is_bound_by_data = false;  // a larger one would leave too few batches an epoch
  bool is_bound_by_feed = false;  // a larger one does not fit into what the feed may take
};

struct SizingRequest {
  // Device bytes that a step may take where batches have this many frames, less with larger ones;
  // 0 where such batches cannot be.
  std::function<std::uint64_t(std::uint32_t batch_frames)> allowed_bytes;
  std::uint32_t least_frames = 0;  // of a batch: holds the longest utterance
  std::uint32_t most_frames = 0;   // of a batch: what the data allow
  // The shapes of the feed with this many frames a batch; empty where there is no such feed.
  std::function<std::vector<StepShape>(std::uint32_t batch_frames)> shapes_of;
  // Device bytes that a step of the shape takes; none where memory did not suffice.
  std::function<std::optional<std::uint64_t>(const StepShape&)> probe;
};

// E-TRAIN-MEMORY where not even the least size fits.
BatchSizing choose_batch_frames(const SizingRequest& request);

// Device bytes that the learner holds once its steps are ready for batches of so many frames;
// nothing where the memory did not suffice.
using MakeReady = std::function<std::optional<std::uint64_t>(std::uint32_t batch_frames)>;
// Steps of many shapes share their memory, and what one leaves may be of no use to another: where
// they hold more than one alone, batches become smaller until they hold no more than allowed.
// E-TRAIN-MEMORY where that takes them below `least_frames`.
BatchSizing settle_batch_frames(BatchSizing sizing, std::uint32_t least_frames,
                                const MakeReady& make_ready);

// "batches of 312,000 frames: 118.2 of 125.1 GiB (94 %), found in 5 probes"
std::string sizing_line(const BatchSizing& sizing);
Json sizing_json(const BatchSizing& sizing);

}  // namespace stoker::train
