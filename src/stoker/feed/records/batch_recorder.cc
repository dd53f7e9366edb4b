#include "stoker/feed/records/batch_recorder.h"

#include <ctime>
#include <utility>

#include "stoker/feed/records/record_ticket.h"
#include "stoker/feed/records/thread_use.h"

namespace stoker::feed {
namespace {

std::int64_t thread_cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

void keep_in_memory(const Error& why, Fallbacks& fallbacks) {
  fallbacks.take_or_raise({"records in a file", "in memory", ""}, why,
                          "other processes do not see this feed's records");
}

RecordMemory take_memory(const RecordOptions& options, std::size_t size_bytes,
                         Fallbacks& fallbacks) {
  if (options.in_file) {
    Result<RecordMemory> memory = RecordMemory::in_file(options, size_bytes);
    if (memory) return std::move(memory).value();
    keep_in_memory(memory.error(), fallbacks);
  }
  return RecordMemory::in_process(size_bytes);
}

}  // namespace

std::shared_ptr<BatchRecorder> BatchRecorder::make(const RecordOptions& options,
                                                   std::uint32_t num_ahead, const Clock& clock,
                                                   Fallbacks& fallbacks) {
  if (!options.is_on) return nullptr;
  const RingSize size{.num_ahead = num_ahead};
  RecordMemory memory = take_memory(options, size.num_bytes(), fallbacks);
  auto ring = std::make_shared<RecordRing>(std::move(memory), size, clock);
  if (const Result<void> shown = ring->publish(); !shown) keep_in_memory(shown.error(), fallbacks);
  return std::make_shared<BatchRecorder>(std::move(ring), clock);
}

// Known where it was read at the hand-out before, too. Of steps that are shorter than the time
// between two looks that is one in a while.
std::int64_t BatchRecorder::consumer_cpu_ns(std::int64_t now_ns) noexcept {
  const std::int64_t since_ns = now_ns - last_look_ns_;
  if (last_cpu_ns_ < 0 && since_ns < 2 * kBetweenLooksNs) return -1;
  const pthread_t self = pthread_self();
  const bool is_same = pthread_equal(self, thread_) != 0;
  const std::int64_t cpu_ns = thread_cpu_ns();
  const std::int64_t spent_ns = is_same && last_cpu_ns_ >= 0 ? cpu_ns - last_cpu_ns_ : -1;
  thread_ = self;
  last_cpu_ns_ = spent_ns >= 0 && since_ns < kBetweenLooksNs ? -1 : cpu_ns;
  last_look_ns_ = now_ns;
  return spent_ns;
}

void BatchRecorder::put_works() noexcept {
  has_works_.store(false, std::memory_order_relaxed);
  for (std::size_t i = 0; i < kNumConsumerWorks; ++i) {
    ring_->put_work(static_cast<ConsumerWork>(i),
                    works_ns_[i].exchange(0, std::memory_order_relaxed));
  }
}

std::uint64_t BatchRecorder::hand_out(const Taken& taken) noexcept {
  const std::uint64_t number = ring_->num_written();
  const std::int64_t now = taken.is_late ? now_ns() : taken.asked_ns;
  if (has_works_.load(std::memory_order_relaxed)) put_works();
  ring_->hand_out({.asked_ns = taken.asked_ns,
                   .handed_ns = now,
                   .num_ready = taken.num_ready,
                   .num_held = num_held_.fetch_add(1, std::memory_order_relaxed) + 1,
                   .num_workers = taken.num_workers,
                   .consumer_cpu_ns = consumer_cpu_ns(now)});
  ring_->fetch_next();
  return number;
}

void BatchRecorder::give_back(std::uint64_t number) noexcept {
  num_held_.fetch_sub(1, std::memory_order_relaxed);
  ring_->give_back(number, now_ns());
}

void RecordTicket::give_back() noexcept {
  if (const std::shared_ptr<BatchRecorder> recorder = std::move(recorder_))
    recorder->give_back(number_);
}

void BatchRecorder::note(ConsumerWork work, std::chrono::nanoseconds spent) noexcept {
  works_ns_[static_cast<std::size_t>(work)].fetch_add(spent.count(), std::memory_order_relaxed);
  has_works_.store(true, std::memory_order_relaxed);
}

}  // namespace stoker::feed
