#include "stoker/observe/batch_source.h"

namespace stoker::observe {

std::optional<feed::Batch> next_of_any_epoch(feed::Feed& feed, const std::stop_token& stop) {
  std::optional<feed::Batch> batch = feed.next(stop);
  if (!batch && !feed.has_ended() && !stop.stop_requested()) batch = feed.next(stop);
  return batch;
}

TakenBatch count_batch(const feed::Batch& batch) {
  TakenBatch taken;
  static_cast<feed::BatchCounts&>(taken) = batch.counts();
  taken.is_last_of_epoch = batch.is_last_of_epoch();
  const feed::MelArray mel = batch.mel();
  if (!batch.device().is_cpu() || mel.shape[0] == 0) return taken;
  taken.mel = static_cast<const std::byte*>(mel.data);
  taken.mel_bytes = mel.size_bytes();
  taken.row_bytes = taken.mel_bytes / mel.shape[0];
  return taken;
}

void touch_rows(const TakenBatch& batch) {
  for (std::size_t at = 0; at < batch.mel_bytes; at += batch.row_bytes) {
    static_cast<void>(*static_cast<const volatile std::byte*>(batch.mel + at));
  }
}

std::optional<TakenBatch> FeedSource::take(const std::stop_token& stop) {
  held_.reset();
  held_ = next_of_any_epoch(feed_, stop);
  if (!held_) return std::nullopt;
  return count_batch(*held_);
}

MemorySource::MemorySource(feed::Feed& feed, std::size_t num_batches, const std::stop_token& stop) {
  while (kept_.size() < num_batches) {
    const std::optional<feed::Batch> batch = next_of_any_epoch(feed, stop);
    if (!batch) break;
    TakenBatch taken = count_batch(*batch);
    std::vector<std::byte> mel(taken.mel, taken.mel + taken.mel_bytes);
    taken.mel = mel.data();
    kept_.push_back({std::move(mel), taken});
  }
}

std::optional<TakenBatch> MemorySource::take(const std::stop_token& stop) {
  if (kept_.empty() || stop.stop_requested()) return std::nullopt;
  const Kept& kept = kept_[next_];
  next_ = (next_ + 1) % kept_.size();
  return kept.batch;
}

}  // namespace stoker::observe
