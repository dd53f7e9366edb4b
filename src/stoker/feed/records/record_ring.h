// The ring of the last records of a feed, written by its threads without a lock and read by anybody
// who maps it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "stoker/base/clock.h"
#include "stoker/feed/records/batch_record.h"
#include "stoker/feed/records/record_format.h"
#include "stoker/feed/records/record_memory.h"

namespace stoker::feed {

// Who writes a record, one after the other: the worker that filled the batch, the thread that
// uploads it, the consumer that is handed it, and whoever gives it back. Numbers are handed out in
// order, one consumer at a time; at most RingSize::num_ahead of them are filled or on their way
// before.
//
// Memory orders: a place is a seqlock. The mark becomes odd before the first word of the next
// record and even after the last one; words are stored with release and loaded with acquire, so
// whoever has read a word of the next record also sees its odd mark. What is written after the mark
// is even (the consumer's words, times of the device) are facts of their own: a reader has them or
// has them not, and num_written says from when the consumer's are there. A place is used again only
// after RingSize::num_kept more hand-outs; the one writer that may be later than that, who gives
// back, compares first (unreleased()).
class RecordRing {
 public:
  // `memory` has size.num_bytes().
  RecordRing(RecordMemory memory, const RingSize& size, const Clock& clock);
  // Lets others find the file.
  Result<void> publish() { return memory_.publish(); }
  // The feed has ended; batches may still be given back.
  void end() noexcept;

  // Begins to load what put() will write.
  void fetch(std::uint64_t number) const noexcept;
  // The worker: everything it knows of batch record.number.
  void put(const BatchRecord& record) noexcept;
  // The thread that uploads.
  void put_span(std::uint64_t number, RecordStage stage, const StageSpan& span) noexcept;
  void put_ready(std::uint64_t number, std::int64_t ready_ns) noexcept;
  void put_gpu_was_busy(std::uint64_t number, bool was_busy) noexcept;
  // The consumer, for number num_written().
  struct HandOut {
    std::int64_t asked_ns = 0;
    std::int64_t handed_ns = 0;
    std::uint32_t num_ready = 0;
    std::uint32_t num_held = 0;
    std::uint32_t num_workers = 0;
    std::int64_t consumer_cpu_ns = -1;
  };
  void hand_out(const HandOut& what) noexcept;
  // Before hand_out(): what the consumer did since the last one.
  void put_work(ConsumerWork work, std::int64_t spent_ns) noexcept;
  // Whoever has the batch; once.
  void give_back(std::uint64_t number, std::int64_t released_ns) noexcept;
  // Begins to load what hand_out() will write.
  void fetch_next() const noexcept;

  std::uint64_t num_written() const noexcept;
  const std::string& path() const { return memory_.path(); }  // empty: not in a file
  std::span<const std::byte> bytes() const { return {memory_.data(), memory_.size()}; }

 private:
  std::uint64_t* place(std::uint64_t number) const noexcept;

  RecordMemory memory_;
  const std::uint32_t num_places_;
};

}  // namespace stoker::feed
