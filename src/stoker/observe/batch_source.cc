#include "stoker/observe/batch_source.h"

namespace stoker::observe {
namespace {

// Reads the first byte of each row, so that the compiler cannot leave it out.
void touch_rows(const std::byte* mel, std::size_t size_bytes, std::size_t row_bytes) {
  for (std::size_t at = 0; at < size_bytes; at += row_bytes) {
    static_cast<void>(*static_cast<const volatile std::byte*>(mel + at));
  }
}

std::size_t row_bytes_of(const feed::MelArray& mel) {
  return mel.shape[0] == 0 ? 1 : mel.size_bytes() / mel.shape[0];
}

}  // namespace

std::optional<feed::Batch> next_of_any_epoch(feed::Feed& feed, const std::stop_token& stop) {
  std::optional<feed::Batch> batch = feed.next(stop);
  if (!batch && !feed.has_ended() && !stop.stop_requested()) batch = feed.next(stop);
  return batch;
}

TakenBatch count_batch(const feed::Batch& batch) {
  TakenBatch taken{.all_frames = std::uint64_t{batch.shape().num_rows} * batch.shape().num_frames,
                   .is_last_of_epoch = batch.is_last_of_epoch()};
  for (const std::int32_t frames : batch.mel_len()) {
    taken.true_frames += static_cast<std::uint64_t>(frames);
    if (frames > 0) ++taken.num_clips;
  }
  return taken;
}

TakenBatch touch_batch(const feed::Batch& batch) {
  const TakenBatch taken = count_batch(batch);
  const feed::MelArray mel = batch.mel();
  touch_rows(static_cast<const std::byte*>(mel.data), mel.size_bytes(), row_bytes_of(mel));
  return taken;
}

std::optional<TakenBatch> FeedSource::take(const std::stop_token& stop) {
  held_.reset();
  held_ = next_of_any_epoch(feed_, stop);
  if (!held_) return std::nullopt;
  return touch_batch(*held_);
}

MemorySource::MemorySource(feed::Feed& feed, std::size_t num_batches, const std::stop_token& stop) {
  while (kept_.size() < num_batches) {
    const std::optional<feed::Batch> batch = next_of_any_epoch(feed, stop);
    if (!batch) break;
    const feed::MelArray mel = batch->mel();
    const auto* const bytes = static_cast<const std::byte*>(mel.data);
    kept_.push_back({{bytes, bytes + mel.size_bytes()}, row_bytes_of(mel), touch_batch(*batch)});
  }
}

std::optional<TakenBatch> MemorySource::take(const std::stop_token& stop) {
  if (kept_.empty() || stop.stop_requested()) return std::nullopt;
  const Kept& kept = kept_[next_];
  next_ = (next_ + 1) % kept_.size();
  touch_rows(kept.mel.data(), kept.mel.size(), kept.row_bytes);
  return kept.batch;
}

}  // namespace stoker::observe
