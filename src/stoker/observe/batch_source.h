// Where a consumer takes batches from: a feed, or copies of batches in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "stoker/feed/feed.h"

namespace stoker::observe {

// What a consumer needs to know of a batch: what was counted of it, and its memory.
struct TakenBatch : feed::BatchCounts {
  bool is_last_of_epoch = false;
  // In host memory: the mel and the length of a row; null elsewhere.
  const std::byte* mel = nullptr;
  std::size_t mel_bytes = 0, row_bytes = 0;
};

// One consumer thread.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  // Gives the batch before back and waits for the next one; epochs follow each other without a
  // sign. Nothing when stopped or at the end of the last epoch.
  virtual std::optional<TakenBatch> take(const std::stop_token& stop) = 0;
};

TakenBatch count_batch(const feed::Batch& batch);
// Reads one value of every row in host memory: a batch is not had before its memory can be.
void touch_rows(const TakenBatch& batch);

// The next batch, of whatever epoch; nothing at the end of all of them and after a stop.
std::optional<feed::Batch> next_of_any_epoch(feed::Feed& feed, const std::stop_token& stop);

// Batches of a feed, which must outlive it.
class FeedSource final : public BatchSource {
 public:
  explicit FeedSource(feed::Feed& feed) : feed_(feed) {}
  std::optional<TakenBatch> take(const std::stop_token& stop) override;

 private:
  feed::Feed& feed_;
  std::optional<feed::Batch> held_;
};

// The batches that `feed` delivers first, copied, again and again: what the consumer would see if
// loading cost nothing.
class MemorySource final : public BatchSource {
 public:
  MemorySource(feed::Feed& feed, std::size_t num_batches, const std::stop_token& stop);
  std::optional<TakenBatch> take(const std::stop_token& stop) override;

 private:
  struct Kept {
    std::vector<std::byte> mel;
    TakenBatch batch;
  };
  std::vector<Kept> kept_;
  std::size_t next_ = 0;
};

}  // namespace stoker::observe
