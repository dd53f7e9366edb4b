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

std::optional<std::uint64_t> probe(Learner& learner, const StepShape& shape) {
  try {
    return learner.probe_bytes(shape);
  } catch (const Failure& failure) {
    if (failure.error().code != &kTrainMemory) throw;
    return std::nullopt;
  }
}

}  // namespace

BatchSizing fit_batches(const RunFeeds& feeds, Learner& learner, const StepRoom& room) {
  const feed::Feed& feed = feeds.train.feed;
  std::uint64_t all_frames = 0;
  std::uint32_t longest = 0;
  for (const feed::SampledUtterance& row : feed.order().rows()) {
    if (!row.is_used) continue;
    all_frames += row.num_frames;
    longest = std::max(longest, row.num_frames);
  }
  // Packed bins have a step and a little slack beyond the utterance.
  const std::uint32_t least = longest + longest / 8 + 64;
  const std::uint64_t most = std::clamp<std::uint64_t>(
      all_frames / kLeastBatches, least, std::numeric_limits<std::uint32_t>::max() / 4);
  return choose_batch_frames(
      {.allowed_bytes = room.allowed_bytes,
       .least_frames = least,
       .most_frames = static_cast<std::uint32_t>(most),
       .shapes_of =
           [&](std::uint32_t frames) {
             return shapes_with(feed, frames, room.max_reference_frames);
           },
       .probe = [&](const StepShape& shape) { return probe(learner, shape); }});
}

}  // namespace stoker::train
