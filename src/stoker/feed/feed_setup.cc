// What the batches of a setup may hold at most, and how many of them fit into the memory given.
#include "stoker/feed/feed_setup.h"

#include <algorithm>
#include <string>

#include "stoker/base/number_text.h"
#include "stoker/feed/assembly/buffer_plan.h"
#include "stoker/feed/errors.h"

namespace stoker::feed {
namespace {

// One slot is filled, one is ready, one is in the consumer's hands.
constexpr unsigned kFewestSlots = 3;
constexpr unsigned kFewSlots = 6;  // where the memory is not given
constexpr unsigned kMostSlots = 4096;

}  // namespace

BatchFormat make_format(const FeedSetup& setup, const Sampler& order) {
  BatchFormat format{.layout = setup.order.layout,
                     .dtype = setup.dtype,
                     .num_mels = setup.store->num_mels(),
                     .hop_samples = setup.store->hop_samples(),
                     .padding = setup.store->padding(),
                     .with_audio = setup.extras.with_audio,
                     .reference_frames = setup.extras.reference_frames,
                     .segment_frames = setup.extras.segment_frames,
                     .arrays = setup.store->arrays()};
  for (const BatchShape& shape : order.shapes()) {
    const std::size_t rows = setup.ranks.num_rows(shape.num_rows);
    format.max_mel_frames = std::max(format.max_mel_frames, rows * shape.num_frames);
    format.max_tokens = std::max(format.max_tokens, rows * shape.num_tokens);
    format.max_row_frames = std::max<std::size_t>(format.max_row_frames, shape.num_frames);
  }
  for (const SampledUtterance& row : order.rows()) {
    if (!row.is_used) continue;
    format.longest_frames = std::max<std::size_t>(format.longest_frames, row.num_frames);
    format.longest_tokens = std::max<std::size_t>(format.longest_tokens, row.num_tokens);
  }
  format.max_global_rows = order.max_batch_rows();
  format.max_rows = format.max_global_rows / setup.ranks.world_size;
  if (setup.device != nullptr) {
    format.is_for_device = true;
    format.payload = setup.device->payload;
    format.rows_in_place = setup.device->locked_cache != nullptr;
    format.max_extra_samples = setup.device->max_extra_samples;
    format.is_augmented = setup.device->augmentation != nullptr;
  }
  return format;
}

unsigned count_slots(const BatchFormat& format, const LoadingOptions& loading) {
  const std::uint64_t slot_bytes = std::max<std::size_t>(1, format.slot_bytes());
  const std::uint64_t buffer_bytes =
      std::max(loading.buffer_bytes, std::min(loading.most_buffer_bytes, kFewSlots * slot_bytes));
  const std::uint64_t slots = buffer_bytes / slot_bytes;
  if (slots < kFewestSlots) {
    raise({.code = &kFeedMemory,
           .promised = "room for " + std::to_string(kFewestSlots) + " batches of " +
                       bytes_text(format.slot_bytes()),
           .found = "buffer_memory of " + bytes_text(buffer_bytes)});
  }
  return static_cast<unsigned>(std::min<std::uint64_t>(slots, kMostSlots));
}

// Memory that is not page-locked costs little: as much as outlasts a pause.
unsigned default_depth(const FeedSetup& setup, const BatchFormat& format, unsigned max_depth) {
  constexpr std::uint64_t kShareOfMemory = 4;
  constexpr unsigned kQuarters = 4;
  const unsigned workers = setup.loading.num_workers;
  if (setup.device != nullptr || workers == 0) return std::max(4U, 2 * workers);
  const BufferPlan plan = plan_buffer({.slot_bytes = format.slot_bytes(),
                                       .memory_bytes = setup.loading.buffer_bytes / kShareOfMemory,
                                       .num_workers = workers,
                                       .batch_frames = format.max_mel_frames});
  // The last worker is woken when a quarter is left, and fills for as many steps as there are
  // workers.
  return std::max(plan.num_batches, std::min(kQuarters * workers, max_depth));
}

}  // namespace stoker::feed
