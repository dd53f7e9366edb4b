#include "stoker/train/loop/fitted_batches.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "stoker/feed/sampling/sampler.h"
#include "stoker/train/errors.h"
#include "stoker/train/loop/device/step_packing.h"

namespace stoker::train {
namespace {

constexpr std::uint64_t kLeastBatches = 8;  // of an epoch

// Of the feed with other batches.
std::vector<StepShape> shapes_with(const feed::Feed& feed, std::uint32_t batch_frames,
                                   std::int64_t max_reference_frames) {
  feed::SamplerSettings order = feed.order().settings();
  order.batch_frames = batch_frames;
  const feed::Sampler sampler(feed.order().rows(), std::move(order));
  feed::BatchFormat format = feed.format();
  format.max_rows = sampler.max_batch_rows();
  std::vector<StepShape> shapes;
  for (const feed::BatchShape& shape : sampler.shapes())
    shapes.push_back(step_shape_of(shape, format, max_reference_frames));
  return shapes;
}

bool has_fewer_frames(const StepShape& one, const StepShape& other) {
  return one.num_frames < other.num_frames;
}
bool has_fewer_cells(const StepShape& one, const StepShape& other) {
  return alignment_cells(one) < alignment_cells(other);
}

template <class Probe>
std::optional<std::uint64_t> bytes_where_it_fits(const Probe& probe) {
  try {
    return probe();
  } catch (const Failure& failure) {
    if (failure.error().code != &kTrainMemory) throw;
    return std::nullopt;
  }
}

// What is taken beside a training step, by the frames of a batch.
class Beside {
 public:
  Beside(const RunFeeds& feeds, Learner& learner, const StepRoom& room) : feeds_(feeds) {
    if (!feeds.evaluation) return;
    const feed::Feed& feed = feeds.evaluation->feed;
    std::uint32_t frames = evaluation_frames(std::numeric_limits<std::uint32_t>::max());
    for (; frames >= least_frames(feed); frames /= 2) {
      const std::vector<StepShape> shapes = shapes_with(feed, frames, room.max_reference_frames);
      if (shapes.empty()) return;
      if (const auto bytes = largest_evaluation(learner, shapes)) {
        bytes_per_frame_ = static_cast<double>(*bytes) / frames;
        return;
      }
    }
  }

  // Nothing where a feed cannot have such batches.
  std::optional<std::uint64_t> bytes(std::uint32_t batch_frames) const {
    const auto training = feeds_.train.feed.device_bytes_with(batch_frames);
    if (!feeds_.evaluation || !training) return training;
    const std::uint32_t frames = evaluation_frames(batch_frames);
    const auto evaluation = feeds_.evaluation->feed.device_bytes_with(frames);
    if (!evaluation) return std::nullopt;
    return *training + *evaluation + static_cast<std::uint64_t>(bytes_per_frame_ * frames);
  }

 private:
  static std::optional<std::uint64_t> largest_evaluation(Learner& learner,
                                                         const std::vector<StepShape>& shapes) {
    const auto most = std::max_element(shapes.begin(), shapes.end(), has_fewer_cells);
    return bytes_where_it_fits([&] { return learner.probe_evaluation_bytes(*most); });
  }

  const RunFeeds& feeds_;
  double bytes_per_frame_ = 0;
};

}  // namespace

std::uint32_t least_frames(const feed::Feed& feed) {
  std::uint32_t longest = 0;
  for (const feed::SampledUtterance& row : feed.order().rows())
    if (row.is_used) longest = std::max(longest, row.num_frames);
  // Packed bins have a step and a little slack beyond the utterance.
  return longest + longest / 8 + 64;
}

std::optional<std::uint64_t> bytes_when_ready(Learner& learner, const feed::Feed& feed,
                                              const LearnerOptions& options) {
  const std::vector<StepShape> shapes = step_shapes_of(feed, options.shape.reference_frames);
  return bytes_where_it_fits([&] {
    if (options.uses_graphs) {
      learner.prepare(shapes);
      return learner.held_bytes();
    }
    const auto most_frames = std::max_element(shapes.begin(), shapes.end(), has_fewer_frames);
    const auto most_cells = std::max_element(shapes.begin(), shapes.end(), has_fewer_cells);
    return std::max(learner.probe_bytes(*most_frames), learner.probe_bytes(*most_cells));
  });
}

BatchSizing fit_batches(const RunFeeds& feeds, Learner& learner, const StepRoom& room) {
  const feed::Feed& feed = feeds.train.feed;
  std::uint64_t all_frames = 0;
  for (const feed::SampledUtterance& row : feed.order().rows())
    if (row.is_used) all_frames += row.num_frames;
  const std::uint32_t least = least_frames(feed);
  const std::uint64_t most = std::clamp<std::uint64_t>(
      all_frames / kLeastBatches, least, std::numeric_limits<std::uint32_t>::max() / 4);
  const Beside beside(feeds, learner, room);
  return choose_batch_frames(
      {.allowed_bytes = [&](std::uint32_t frames) -> std::uint64_t {
         const std::optional<std::uint64_t> bytes = beside.bytes(frames);
         return bytes ? room.allowed_bytes - std::min(room.allowed_bytes, *bytes) : 0;
       },
       .least_frames = least,
       .most_frames = static_cast<std::uint32_t>(most),
       .shapes_of =
           [&](std::uint32_t frames) {
             return shapes_with(feed, frames, room.max_reference_frames);
           },
       .probe =
           [&](const StepShape& shape) {
             return bytes_where_it_fits([&] { return learner.probe_bytes(shape); });
           }});
}

}  // namespace stoker::train
