// The product: one object that a trainer holds and calls next() on.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/feed/assembly/bad_rows.h"
#include "stoker/feed/batch.h"
#include "stoker/feed/batch_counts.h"
#include "stoker/feed/device/uploader.h"
#include "stoker/feed/feed_options.h"
#include "stoker/feed/feed_setup.h"
#include "stoker/feed/feed_state.h"
#include "stoker/feed/records/record_reader.h"
#include "stoker/feed/start_rule.h"
#include "stoker/feed/tuner/tuner_log.h"
#include "stoker/pipeline/pipeline.h"

namespace stoker::feed {

// The counts are those of all batches delivered.
struct FeedStats : BatchCounts {
  pipeline::PipelineStats pipeline;
  std::vector<FallbackCount> fallbacks;
  std::optional<RingStats> ring;  // of a feed into GPU memory
  std::optional<UploadStats> upload;
  std::optional<DeviceBudget> device;
  std::uint64_t num_read_ahead = 0;  // batches that the storage was asked for ahead
};

// One consumer thread at a time; batches may be read and destroyed anywhere. state(), position(),
// num_batches(), stats(), debug_string(), tuner_log() and what changes speed may be called from
// another thread meanwhile.
//
//   while (auto batch = feed.next()) train_step(batch->mel(), batch->tokens());   // one epoch
class Feed {
 public:
  // Indexes the data, opens the cache, starts filling. Throws ConfigError, DataError, StorageError,
  // MemoryError. open_feed() takes all settings instead.
  static Feed open(const FeedOptions& options);
  explicit Feed(FeedSetup setup);
  Feed(Feed&&) noexcept;
  Feed& operator=(Feed&&) noexcept;
  ~Feed();  // from any state within two seconds

  // The next batch, or empty once at the end of each epoch (the next one is being filled already),
  // always after the last epoch, and when `stop` was requested. Throws what ended the run.
  // A `pause` interrupts a wait now and then; where it ends the wait the result is empty too, and
  // the next call goes on.
  std::optional<Batch> next(const std::stop_token& stop = {}, const WaitPause* pause = nullptr);
  bool has_ended() const;  // no further batch will come

  // Batches handed out so far; next() goes on from there in another process.
  std::string state() const;
  // What state() digests, by name (state_origin.h): for a file beside that of the state. Empty for
  // a feed without a data set.
  std::string state_origin() const;
  // Goes to the saved position in O(1). Throws E-FEED-STATE, E-FEED-CHANGED (which names what
  // changed where `origin` is what state_origin() gave then) and leaves the feed where it was.
  // Where a thread cannot be started again the feed has ended, and next() throws E-THREAD-START
  // too.
  void restore(std::string_view state_line, std::string_view origin = {});
  // Goes to a batch of an epoch; past its end: to the epochs after it, however far
  // (epoch_lengths.h). Throws E-FEED-STATE.
  void seek(const FeedPosition& position);
  FeedPosition position() const;

  std::uint64_t num_batches() const;  // of the epoch next() is in
  const std::vector<BatchShape>& shapes() const;
  const Sampler& order() const;
  const BatchFormat& format() const;
  const FeedIdentity& identity() const;
  // Since the feed was opened, whatever was sought.
  FeedStats stats() const;
  std::vector<BadRow> bad_rows() const;
  std::string debug_string() const;  // what every slot is doing

  // What happened to each of the last batches (records/batch_record.h); nothing where
  // observe.records is off. Other processes read the same from the reader's path().
  std::optional<RecordReader> records() const;
  // What the consumer did beside its step since the last batch, for the next one's record.
  void note(ConsumerWork work, std::chrono::nanoseconds spent) noexcept;

  // Waits as the start rule says (start_rule.h); returns at once for batches in host memory.
  StartReport await_start(const StartOptions& options);

  // Change speed and memory, never a byte; a tuner goes on from there.
  void set_num_workers(unsigned num_workers);
  void set_depth(unsigned depth);
  unsigned num_workers() const;
  unsigned depth() const;
  unsigned read_ahead() const;
  // The cores that workers chosen automatically, and the tuner, may use from now on: for several
  // feeds in one process. No effect where no tuner runs.
  void set_core_share(unsigned num_cores);
  unsigned max_depth() const;  // what the memory given allows
  // What the tuner saw and did since the feed was opened or sought; nothing where none runs.
  std::optional<TunerLog> tuner_log() const;
  std::uint64_t buffer_bytes() const;  // of all slots that may be in use at this depth
  // What the feed would take at most of the consumer's GPU with batches of so many frames; nothing
  // where such batches do not fit into the memory that it may take, there or on the host.
  std::optional<std::uint64_t> device_bytes_with(std::uint32_t batch_frames) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Notes the time from here to the end of the block.
class WorkTimer {
 public:
  WorkTimer(Feed& feed, ConsumerWork work) : feed_(feed), work_(work) {}
  ~WorkTimer() { feed_.note(work_, system_clock().now() - begun_); }
  WorkTimer(const WorkTimer&) = delete;
  WorkTimer& operator=(const WorkTimer&) = delete;

 private:
  Feed& feed_;
  const ConsumerWork work_;
  const std::chrono::nanoseconds begun_ = system_clock().now();
};

}  // namespace stoker::feed

namespace stoker {

using feed::Batch;
using feed::Feed;
using feed::FeedOptions;

}  // namespace stoker
