// A feed's hand on its records: counts the batches, times the consumer, and says when a batch came
// back.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/feed/fallbacks.h"
#include "stoker/feed/records/record_ring.h"

namespace stoker::feed {

// hand_out() and note(): the consumer, one thread at a time. give_back(): anybody.
class BatchRecorder {
 public:
  // Null where records are off. Where no file can be made they are kept in memory, as a fallback.
  static std::shared_ptr<BatchRecorder> make(const RecordOptions& options, std::uint32_t num_ahead,
                                             const Clock& clock, Fallbacks& fallbacks);

  BatchRecorder(std::shared_ptr<RecordRing> ring, const Clock& clock)
      : ring_(std::move(ring)), clock_(clock) {}

  const std::shared_ptr<RecordRing>& ring() const { return ring_; }
  std::int64_t now_ns() const { return clock_.now().count(); }

  struct Taken {
    std::int64_t asked_ns = 0;
    bool is_late = true;  // the consumer had to wait, or may have had to
    std::uint32_t num_ready = 0;
    std::uint32_t num_workers = 0;
  };
  // Returns the batch's number.
  std::uint64_t hand_out(const Taken& taken) noexcept;
  void give_back(std::uint64_t number) noexcept;
  void note(ConsumerWork work, std::chrono::nanoseconds spent) noexcept;

 private:
  std::int64_t consumer_cpu_ns(std::int64_t now_ns) noexcept;
  void put_works() noexcept;

  const std::shared_ptr<RecordRing> ring_;
  const Clock& clock_;
  // Relaxed: counts alone.
  std::atomic<std::uint32_t> num_held_{0};
  std::atomic<bool> has_works_{false};
  std::array<std::atomic<std::int64_t>, kNumConsumerWorks> works_ns_{};
  // Of the consumer's processor time.
  pthread_t thread_{};
  std::int64_t last_cpu_ns_ = -1;  // at the last hand-out; -1: not read there
  std::int64_t last_look_ns_ = 0;
};

// The records of one run of the engine, from one seek to the next.
struct RunRecords {
  std::shared_ptr<BatchRecorder> recorder;  // null: off
  std::uint64_t first_number = 0;
  std::uint64_t first_sequence = 0;

  std::uint64_t number_of(std::uint64_t sequence) const {
    return first_number + (sequence - first_sequence);
  }
};

}  // namespace stoker::feed
