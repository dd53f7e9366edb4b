#include "stoker/feed/device/ring.h"

#include <utility>

#include "stoker/feed/device/kernels.h"
#include "stoker/pipeline/errors.h"
#include "stoker/pipeline/patience.h"

namespace stoker::feed {
namespace {

std::size_t mel_bytes(const BatchFormat& format) {
  return aligned_part_bytes(format.max_mel_frames * format.bytes_per_frame());
}
std::size_t extras_bytes(const BatchFormat& format) {
  return aligned_part_bytes(ExtrasBlock::most(format).delivered_bytes);
}

// The mel and what is optional are on the device only.
BatchFormat without_mel(BatchFormat format) {
  format.payload = SlotPayload::kPaddedMel;
  format.is_for_device = false;
  return format;
}

std::uint32_t take_first(std::vector<std::uint32_t>& queue) {
  const std::uint32_t first = queue.front();
  queue.erase(queue.begin());
  return first;
}

}  // namespace

std::size_t DeviceRing::slot_bytes(const BatchFormat& format) {
  return UploadBlock::room_bytes(format) + mel_bytes(format) + extras_bytes(format);
}

DeviceRing::DeviceRing(const BatchFormat& format, const RingOptions& options)
    : format_(format), options_(options) {
  const unsigned most = std::max(options.num_slots, options.most_slots);
  slots_.reserve(most);
  {
    const Lock lock(mutex_);
    free_.reserve(most);
    ready_.reserve(most);
  }
  add_slots(options.num_slots);
}

void DeviceRing::grow(unsigned num_slots) {
  const auto present = static_cast<unsigned>(slots_.size());
  const unsigned wanted = std::min(num_slots, std::max(present, options_.most_slots));
  if (wanted > present) add_slots(wanted - present);
}

void DeviceRing::add_slots(unsigned count) {
  cuda::DeviceBuffer& memory =
      memory_.emplace_back(options_.device, count * slot_bytes(format_), *options_.api);
  const BatchFormat host_format = without_mel(format_);
  std::byte nothing{};
  std::vector<DeviceSlot> added;
  for (unsigned i = 0; i < count; ++i) {
    std::byte* const first = memory.data() + i * slot_bytes(format_);
    std::byte* const mel = first + UploadBlock::room_bytes(format_);
    added.push_back({.host = BatchSlot(
                         host_format, {.mel = {&nothing, 1}, .block = {}, .extras = {&nothing, 1}}),
                     .mel = mel,
                     .block = first,
                     .extras = mel + mel_bytes(format_),
                     .ready = cuda::Event(options_.device, cuda::EventUse::kOrder, *options_.api),
                     .done = {}});
    // One stream reads, usually; marks for others are made when they come.
    added.back().done.emplace_back(options_.device, cuda::EventUse::kOrder, *options_.api);
    added.back().host.mel = AlignedBytes();
    added.back().host.extras = AlignedBytes();
  }
  const Lock lock(mutex_);
  for (DeviceSlot& slot : added) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.push_back(std::move(slot));
  }
  freed_.notify_one();
}

DeviceRing::~DeviceRing() {
  for (const DeviceSlot& slot : slots_) {
    slot.ready.synchronize_quietly();
    for (const cuda::Event& done : slot.done) done.synchronize_quietly();
  }
}

void DeviceSlot::hold_back_writer(cuda::StreamView writer, LastWriter last) const {
  if (last == LastWriter::kOtherStream) ready.hold_back(writer);
  for (std::size_t i = 0; i < num_done; ++i) done[i].hold_back(writer);
}

std::optional<std::uint32_t> DeviceRing::take_free(const std::stop_token& stop) {
  Lock lock(mutex_);
  const Stopwatch waited;
  while (free_.empty() && !is_over()) {
    if (freed_.wait(lock, stop) == WaitEnd::kStopped) break;
  }
  producer_wait_s_ += waited.seconds();
  if (is_over() || stop.stop_requested()) return std::nullopt;
  return take_first(free_);
}

// A consumer's wait: ends on a stop, by its pause, and with an error where it holds every slot for
// longer than `patience`.
class DeviceRing::LongWait {
 public:
  LongWait(const DeviceRing& ring, std::chrono::nanoseconds patience, const WaitPause* pause)
      : ring_(ring),
        pause_(pause),
        patience_(patience),
        pause_at_(system_clock().now() + (pause == nullptr ? patience : pause->every)) {}

  // One wait for a change; false where it is over.
  bool go_on(ConditionVariable& changed, Lock& lock,
             const std::stop_token& stop) STOKER_NO_THREAD_CHECK {
    const bool can_starve = patience_.limit().count() > 0 && ring_.are_all_held();
    if (!can_starve && pause_ == nullptr) return changed.wait(lock, stop) != WaitEnd::kStopped;
    const std::chrono::nanoseconds began = system_clock().now();
    if (!was_starved_) patience_.begin(began);
    const auto look_at = began + patience_.period();
    const auto until = !can_starve         ? pause_at_
                       : pause_ == nullptr ? look_at
                                           : std::min(look_at, pause_at_);
    const WaitEnd end = changed.wait_until(lock, stop, {&system_clock(), until});
    if (end == WaitEnd::kStopped) return false;
    const std::chrono::nanoseconds now = system_clock().now();
    was_starved_ = can_starve && ring_.are_all_held();
    if (was_starved_ && patience_.look(now) >= patience_.limit()) ring_.raise_all_held();
    if (pause_ == nullptr || now < pause_at_) return true;
    pause_at_ = now + pause_->every;
    lock.unlock();
    was_ended_ = !pause_->go_on();
    lock.lock();
    return !was_ended_;
  }
  bool was_ended() const { return was_ended_; }

 private:
  const DeviceRing& ring_;
  const WaitPause* const pause_;
  pipeline::Patience patience_;
  std::chrono::nanoseconds pause_at_;
  bool was_starved_ = false;  // at the last look
  bool was_ended_ = false;
};

bool DeviceRing::await_free(const std::stop_token& stop, std::chrono::nanoseconds patience,
                            const WaitPause* pause) {
  Lock lock(mutex_);
  LongWait wait(*this, patience, pause);
  while (free_.empty() && !is_over()) {
    if (!wait.go_on(freed_, lock, stop)) break;
  }
  if (error_) raise(Error(*error_));
  if (wait.was_ended()) return false;
  return !is_closed_ && !stop.stop_requested();
}

void DeviceRing::push_ready(std::uint32_t slot) {
  const Lock lock(mutex_);
  ready_.push_back(slot);
  filled_.notify_one();
}

void DeviceRing::fail(Error error) {
  const Lock lock(mutex_);
  if (!error_) error_ = std::move(error);
  filled_.notify_all();
  freed_.notify_all();
}

void DeviceRing::close() {
  const Lock lock(mutex_);
  is_closed_ = true;
  filled_.notify_all();
  freed_.notify_all();
}

void DeviceRing::open() {
  const Lock lock(mutex_);
  is_closed_ = false;
  error_.reset();
}

std::optional<std::uint32_t> DeviceRing::pop_ready(const std::stop_token& stop,
                                                   std::chrono::nanoseconds patience,
                                                   const WaitPause* pause) {
  Lock lock(mutex_);
  const Stopwatch waited;
  LongWait wait(*this, patience, pause);
  while (ready_.empty() && !is_over()) {
    if (!wait.go_on(filled_, lock, stop)) break;
  }
  consumer_wait_s_ += waited.seconds();
  if (stop.stop_requested()) return std::nullopt;
  if (ready_.empty()) {
    if (error_) raise(Error(*error_));
    return std::nullopt;
  }
  return lease_first();
}

RingStats DeviceRing::await_ready(unsigned num_ready, const ReadyWait& wait) {
  Lock lock(mutex_);
  while (ready_.size() < num_ready && !is_over()) {
    const WaitEnd end = wait.deadline
                            ? filled_.wait_until(lock, wait.stop, {wait.clock, *wait.deadline})
                            : filled_.wait(lock, wait.stop);
    if (end == WaitEnd::kStopped || end == WaitEnd::kDeadline) break;
  }
  return stats_locked();
}

std::optional<std::uint32_t> DeviceRing::try_pop_ready() {
  const Lock lock(mutex_);
  if (ready_.empty()) return std::nullopt;
  return lease_first();
}

std::uint32_t DeviceRing::lease_first() {
  ++num_leased_;
  return take_first(ready_);
}

void DeviceRing::raise_all_held() const {
  constexpr std::size_t kMostNamed = 8;
  std::string names;
  for (std::size_t i = 0; i < slots_.size() && i < kMostNamed; ++i) {
    names += (i == 0 ? ": epoch " : ", epoch ") + std::to_string(slots_[i].host.epoch) + " batch " +
             std::to_string(slots_[i].host.index);
  }
  if (slots_.size() > kMostNamed) names += ", …";
  raise({.code = &pipeline::kPipeLeases,
         .promised = "a free batch of " + std::to_string(slots_.size()) + " on GPU " +
                     std::to_string(options_.device),
         .found = "none; the consumer holds all of them" + names,
         .cure = "destroy or release batches before calling next(), or raise buffer_size"});
}

void DeviceRing::give_back(std::uint32_t slot, const ReadingStreams& readers) {
  DeviceSlot& given = slots_[slot];
  add_marks(given, readers.size());
  for (std::size_t i = 0; i < readers.size(); ++i) given.done[i].record(readers[i]);
  const Lock lock(mutex_);
  given.num_done = readers.size();
  given_before_ = std::exchange(last_given_, slot);
  --num_leased_;
  free_.push_back(slot);
  freed_.notify_one();
}

// Under the lock only where there is one to add: is_consumer_working() may look at them meanwhile.
void DeviceRing::add_marks(DeviceSlot& slot, std::size_t count) {
  while (slot.done.size() < count) {
    cuda::Event mark(options_.device, cuda::EventUse::kOrder, *options_.api);
    const Lock lock(mutex_);
    slot.done.push_back(std::move(mark));
  }
}

std::optional<bool> DeviceRing::is_consumer_working() const {
  const Lock lock(mutex_);
  if (!given_before_ || slots_[*given_before_].num_done == 0) return std::nullopt;
  const DeviceSlot& slot = slots_[*given_before_];
  for (std::size_t i = 0; i < slot.num_done; ++i) {
    if (!slot.done[i].is_done()) return true;
  }
  return false;
}

RingStats DeviceRing::stats() const {
  const Lock lock(mutex_);
  return stats_locked();
}

RingStats DeviceRing::stats_locked() const {
  return {.num_slots = static_cast<unsigned>(slots_.size()),
          .num_ready = static_cast<unsigned>(ready_.size()),
          .num_leased = num_leased_,
          .producer_wait_s = producer_wait_s_,
          .consumer_wait_s = consumer_wait_s_};
}

}  // namespace stoker::feed
