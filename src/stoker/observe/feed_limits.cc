#include "stoker/observe/feed_limits.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numbers>
#include <numeric>
#include <vector>

#include "stoker/base/aligned_bytes.h"
#include "stoker/base/clock.h"
#include "stoker/base/thread/parallel.h"
#include "stoker/feed/assembly/batch_slot.h"

namespace stoker::observe {
namespace {

// As many as a feed with a small buffer writes in turn, so that stores reach memory.
constexpr std::size_t kSlotsPerThread = 3;

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// One thread's share: batches first, first + step, … of the plan, again and again.
class CopyThread {
 public:
  CopyThread(const feed::DataSetSource& store, const feed::Feed& feed)
      : store_(store), shapes_(feed.shapes()) {
    const feed::BatchFormat& format = feed.format();
    frame_bytes_ = format.num_mels * config::bytes_per_value(store.cache_dtype());
    for (std::size_t i = 0; i < kSlotsPerThread; ++i)
      slots_.emplace_back(format.max_mel_frames * frame_bytes_);
  }

  double run(const feed::EpochPlan& plan, std::size_t first, std::size_t step, double seconds) {
    const Stopwatch watch;
    std::size_t clips = 0;
    std::size_t slot = 0;
    for (std::size_t at = first; watch.seconds() < seconds; at += step) {
      const feed::PlannedBatch& batch = plan.batches[at % plan.batches.size()];
      copy(plan, batch, slots_[slot++ % slots_.size()].data());
      clips += batch.num_rows;
    }
    return static_cast<double>(clips) / watch.seconds();
  }

 private:
  void copy(const feed::EpochPlan& plan, const feed::PlannedBatch& batch, std::byte* out) const {
    const std::size_t row_bytes = shapes_[batch.shape_index].num_frames * frame_bytes_;
    for (const std::uint32_t row : plan.view_rows(batch)) {
      const auto payload = store_.reader()->mapped_payload(*store_.routes()[row].mel);
      std::memcpy(out, payload.data(), payload.size());
      out += row_bytes;
    }
  }

  const feed::DataSetSource& store_;
  const std::vector<feed::BatchShape>& shapes_;
  std::size_t frame_bytes_ = 0;
  std::vector<AlignedBytes> slots_;
};

bool all_mapped(const feed::DataSetSource& store) {
  for (std::uint32_t row = 0; row < store.num_utterances(); ++row) {
    const auto& record = store.routes()[row].mel;
    if (!record || store.reader()->mapped_payload(*record).empty()) return false;
  }
  return store.num_utterances() > 0;
}

double mean_frames(const feed::Feed& feed) {
  double frames = 0;
  for (const feed::SampledUtterance& row : feed.order().rows()) frames += row.num_frames;
  return frames / static_cast<double>(feed.order().rows().size());
}

}  // namespace

std::vector<std::int16_t> measuring_clip() {
  std::vector<std::int16_t> clip(kMeasuringClipSamples);
  std::uint64_t noise = 1;
  double phase = 0.0;
  for (std::size_t i = 0; i < clip.size(); ++i) {
    const double t = static_cast<double>(i) / 22050.0;
    noise = noise * 6364136223846793005ULL + 1442695040888963407ULL;
    const double breath = static_cast<double>(noise >> 11) * 0x1p-52 - 1.0;
    phase += 2.0 * std::numbers::pi * (115.0 + 25.0 * std::sin(2.3 * t)) / 22050.0;
    // A buzz with many harmonics, in syllables of a third of a second.
    const double buzz = std::sin(phase) / (1.05 - std::cos(phase)) * 0.2;
    const double x = 0.8 * buzz * std::max(0.0, std::sin(9.4 * t)) + 0.004 * breath;
    clip[i] = static_cast<std::int16_t>(std::lround(std::clamp(x, -1.0, 1.0) * 32767.0));
  }
  return clip;
}

FeedLimit measure_copy_limit(const feed::DataSetSource& store, const feed::Feed& feed,
                             unsigned num_threads, double seconds) {
  FeedLimit limit{"memcpy over the same mapping and order"};
  if (feed.format().layout != feed::BatchLayout::kPadded || !all_mapped(store)) return limit;
  feed::EpochPlan plan;
  feed.order().plan_epoch(0, plan);
  std::vector<double> rates(num_threads);
  run_parallel(num_threads, num_threads, [&](std::size_t thread) {
    CopyThread copier(store, feed);
    copier.run(plan, thread, num_threads, seconds / 3);  // touches memory for the first time
    rates[thread] = copier.run(plan, thread, num_threads, seconds);
  });
  limit.clips_per_s = sum_of(rates);
  return limit;
}

FeedLimit measure_mel_limit(const feed::DataSetSource& store, const feed::Feed& feed,
                            unsigned num_threads, double seconds) {
  const audio::LogMel& log_mel = store.spec().mel();
  const std::vector<std::int16_t> clip = measuring_clip();
  const std::size_t num_frames = log_mel.num_frames(clip.size());
  std::vector<double> frame_rates(num_threads);
  run_parallel(num_threads, num_threads, [&](std::size_t thread) {
    auto workspace = log_mel.make_workspace(clip.size());
    std::vector<std::byte> out(num_frames * log_mel.num_mels() *
                               config::bytes_per_value(store.cache_dtype()));
    const Stopwatch watch;
    std::size_t frames = 0;
    while (watch.seconds() < seconds) {
      frames += log_mel.run(clip,
                            {.data = out.data(),
                             .dtype = store.cache_dtype(),
                             .row_stride = log_mel.num_mels(),
                             .rows = num_frames},
                            workspace);
    }
    frame_rates[thread] = static_cast<double>(frames) / watch.seconds();
  });
  return {"log-mel of samples in the processor's cache", sum_of(frame_rates) / mean_frames(feed)};
}

}  // namespace stoker::observe
