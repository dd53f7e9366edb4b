// Batches in device memory: filled by one thread, leased to the consumer, and used again when the
// consumer's streams are done with them.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/thread/sync.h"
#include "stoker/cuda/device_buffer.h"
#include "stoker/cuda/event.h"
#include "stoker/cuda/stream.h"
#include "stoker/feed/assembly/batch_slot.h"
#include "stoker/feed/assembly/upload_block.h"

namespace stoker::feed {

struct RingOptions {
  cuda::DeviceApi* api = nullptr;
  int device = 0;
  unsigned num_slots = 2;
  unsigned most_slots = 0;  // what grow() may be asked for; 0: as many as there are
};

// The streams whose work reads a batch: its memory may be used again when all of them are done. A
// set; the usual few take no memory, any number is kept.
class ReadingStreams {
 public:
  // Whether it was not there yet.
  bool add(cuda::StreamView stream) {
    if (contains(stream)) return false;
    if (num_usual_ < kUsual) {
      usual_[num_usual_++] = stream.handle();
    } else {
      more_.push_back(stream);
    }
    return true;
  }
  std::size_t size() const { return num_usual_ + more_.size(); }
  cuda::StreamView operator[](std::size_t at) const {
    return at < num_usual_ ? cuda::StreamView(usual_[at]) : more_[at - num_usual_];
  }

 private:
  static constexpr std::size_t kUsual = 4;

  bool contains(cuda::StreamView stream) const {
    const auto end = usual_.begin() + static_cast<std::ptrdiff_t>(num_usual_);
    return std::find(usual_.begin(), end, stream.handle()) != end ||
           std::find(more_.begin(), more_.end(), stream) != more_.end();
  }

  std::array<cuda::StreamHandle, kUsual> usual_{};
  std::size_t num_usual_ = 0;
  std::vector<cuda::StreamView> more_;
};

// One batch on the device. `host` holds what is small, in host memory. The mel follows the block as
// in a slot of the host, so that one copy moves both.
struct DeviceSlot {
  BatchSlot host;
  std::byte* mel = nullptr;
  std::byte* block = nullptr;   // laid out as UploadBlock(host) says
  std::byte* extras = nullptr;  // laid out as host.extra_places says
  cuda::Event ready;            // the batch is whole
  // The consumer has read it: a mark for each stream that did, recorded when it is given back.
  std::vector<cuda::Event> done;
  std::size_t num_done = 0;  // marks of the last time

  // What `writer` is given from now on runs after the slot's last writer and after every stream
  // that read what it wrote. A batch that nobody waited for may still be in flight; where `writer`
  // itself wrote it, that needs no call.
  enum class LastWriter { kOtherStream, kSameStream };
  void hold_back_writer(cuda::StreamView writer, LastWriter last = LastWriter::kOtherStream) const;
};

struct RingStats {
  unsigned num_slots = 0;
  unsigned num_ready = 0;
  unsigned num_leased = 0;
  double producer_wait_s = 0;  // high: the consumer is slower than the feed
  double consumer_wait_s = 0;  // high: the feed is slower than the consumer
};

// Thread-safe; one producer, one consumer, leases given back from anywhere. All memory is one
// allocation made here, and one for each grow(); destruction waits until the device is done with
// every slot.
class DeviceRing {
 public:
  // Throws GpuError with the sizes when the memory cannot be had.
  DeviceRing(const BatchFormat& format, const RingOptions& options);
  ~DeviceRing();

  static std::size_t slot_bytes(const BatchFormat& format);

  // As many slots, but not more than most_slots; fewer than there are change nothing, since freeing
  // memory would make the device wait. Called by one thread at a time. Throws GpuError.
  void grow(unsigned num_slots);

  int device() const { return options_.device; }
  cuda::DeviceApi& api() const { return *options_.api; }
  DeviceSlot& slot(std::uint32_t index) { return slots_[index]; }

  // Waits for a slot that nobody holds, the longest unused first; nothing after a stop. Work on it
  // may still be queued: hold_back_writer().
  std::optional<std::uint32_t> take_free(const std::stop_token& stop);
  // Waits until take_free() would not; false after a stop. For a consumer that fills slots itself:
  // throws what fail() was given, and E-PIPE-LEASES when it holds every slot for longer than
  // `patience` (0: any time).
  bool await_free(const std::stop_token& stop, std::chrono::nanoseconds patience,
                  const WaitPause* pause = nullptr);
  void push_ready(std::uint32_t slot);
  // next() throws it once everything before is delivered.
  void fail(Error error);
  void close();  // what is ready is still delivered
  void open();   // for another run, after close()

  // Waits for the next batch in order; nothing after a stop or close. Throws what fail() was given,
  // and E-PIPE-LEASES when the consumer holds every slot for longer than `patience`.
  // Also nothing where `pause` ends the wait.
  std::optional<std::uint32_t> pop_ready(const std::stop_token& stop,
                                         std::chrono::nanoseconds patience,
                                         const WaitPause* pause = nullptr);
  // Waits until that many are ready; returns earlier at the deadline, after a stop, and when there
  // will be no more.
  struct ReadyWait {
    const Clock* clock = &system_clock();
    std::optional<std::chrono::nanoseconds> deadline{};
    std::stop_token stop{};
  };
  RingStats await_ready(unsigned num_ready, const ReadyWait& wait);
  // Only if one is ready; never waits.
  std::optional<std::uint32_t> try_pop_ready();
  void give_back(std::uint32_t slot, const ReadingStreams& readers);
  // Whether the consumer's streams still work for the batch that was given back before the last
  // one; nothing where no stream read it. A call to the driver.
  std::optional<bool> is_consumer_working() const;

  RingStats stats() const;

 private:
  class LongWait;
  RingStats stats_locked() const STOKER_REQUIRES(mutex_);
  std::uint32_t lease_first() STOKER_REQUIRES(mutex_);
  bool are_all_held() const STOKER_REQUIRES(mutex_) { return num_leased_ == slots_.size(); }
  [[noreturn]] void raise_all_held() const STOKER_REQUIRES(mutex_);
  bool is_over() const STOKER_REQUIRES(mutex_) { return is_closed_ || error_.has_value(); }

  void add_slots(unsigned count);
  void add_marks(DeviceSlot& slot, std::size_t count);

  const BatchFormat format_;
  const RingOptions options_;
  std::vector<cuda::DeviceBuffer> memory_;
  std::vector<DeviceSlot> slots_;  // room for most_slots: none of them ever moves
  mutable Mutex mutex_;
  ConditionVariable freed_;
  ConditionVariable filled_;
  std::vector<std::uint32_t> free_ STOKER_GUARDED_BY(mutex_);   // oldest first
  std::vector<std::uint32_t> ready_ STOKER_GUARDED_BY(mutex_);  // in order
  unsigned num_leased_ STOKER_GUARDED_BY(mutex_) = 0;
  std::optional<std::uint32_t> last_given_ STOKER_GUARDED_BY(mutex_);
  std::optional<std::uint32_t> given_before_ STOKER_GUARDED_BY(mutex_);
  bool is_closed_ STOKER_GUARDED_BY(mutex_) = false;
  std::optional<Error> error_ STOKER_GUARDED_BY(mutex_);
  double producer_wait_s_ STOKER_GUARDED_BY(mutex_) = 0;
  double consumer_wait_s_ STOKER_GUARDED_BY(mutex_) = 0;
};

}  // namespace stoker::feed
