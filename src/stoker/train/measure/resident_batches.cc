#include "stoker/train/measure/resident_batches.h"

#include <algorithm>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/observe/batch_source.h"

namespace stoker::train {
namespace {

constexpr std::int64_t kMostBatches = 64;
constexpr double kMostSeconds = 20;  // until the rarest shapes are given up

config::Settings native_settings(config::Settings settings) {
  settings.loader.use_native_loading = true;
  settings.loader.auto_tune_performance = false;
  settings.gpu.enhanced_gpu_prefetch = true;
  settings.loader.optimize_cpu_gpu_overlap = true;
  settings.loader.prefetch_buffer_size = kMostBatches;
  settings.gpu.buffer_size = kMostBatches;
  return settings;
}

// One slot stays for the batches that are looked at and given back.
std::size_t room_of(const feed::Feed& feed) {
  const auto ring = feed.stats().ring;
  const unsigned num_slots = ring ? ring->num_slots : feed.depth();
  return std::max(1U, num_slots - std::min(num_slots, 1U));
}

}  // namespace

ResidentBatches::ResidentBatches(const config::Settings& settings, const TrainingHooks& hooks)
    : opened_(feed::open_feed(native_settings(settings),
                              {.io = hooks.io, .stop = hooks.stop, .devices = hooks.devices})) {
  collect(hooks);
}

void ResidentBatches::collect(const TrainingHooks& hooks) {
  feed::Feed& feed = opened_.feed;
  const std::size_t room = room_of(feed);
  const std::size_t num_shapes = std::max<std::size_t>(1, feed.shapes().size());
  const std::size_t most_each = std::max<std::size_t>(1, room / num_shapes);
  const std::uint64_t num_looked_at = feed.num_batches();
  const Stopwatch watch(*hooks.clock);
  for (std::uint64_t i = 0; i < num_looked_at && num_batches_ < room; ++i) {
    if (watch.seconds() > kMostSeconds) return;
    std::optional<feed::Batch> batch = observe::next_of_any_epoch(feed, hooks.stop);
    if (!batch) return;
    Kept* kept = find(batch->shape());
    if (kept == nullptr) kept = &kept_.emplace_back(Kept{.shape = batch->shape(), .batches = {}});
    if (kept->batches.size() >= most_each) continue;
    kept->batches.push_back(std::move(*batch));
    ++num_batches_;
  }
}

ResidentBatches::Kept* ResidentBatches::find(const feed::BatchShape& shape) {
  for (Kept& kept : kept_)
    if (kept.shape == shape) return &kept;
  return nullptr;
}

std::optional<feed::Batch> ResidentBatches::lend(const feed::BatchShape& shape) {
  Kept* const kept = find(shape);
  if (kept == nullptr) return std::nullopt;
  return kept->batches[kept->next++ % kept->batches.size()].borrow();
}

std::vector<feed::BatchShape> ResidentBatches::shapes() const {
  std::vector<feed::BatchShape> all;
  all.reserve(kept_.size());
  for (const Kept& kept : kept_) all.push_back(kept.shape);
  return all;
}

}  // namespace stoker::train
