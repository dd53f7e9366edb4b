#include "stoker/feed/records/record_ring.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <span>
#include <utility>

#include "stoker/base/aligned_bytes.h"
#include "stoker/base/digest/crc32c.h"
#include "stoker/base/thread/scheduler.h"
#include "stoker/feed/records/record_words.h"

namespace stoker::feed {
namespace {

constexpr std::size_t kSpanWords = sizeof(StageSpan) / sizeof(std::uint64_t);
constexpr std::size_t kAskedAt = word_at(offsetof(BatchRecord, asked_ns));
constexpr std::size_t kHandedAt = word_at(offsetof(BatchRecord, handed_ns));
constexpr std::size_t kReleasedAt = word_at(offsetof(BatchRecord, released_ns));
constexpr std::size_t kConsumerCpuAt = word_at(offsetof(BatchRecord, consumer_cpu_ns));
constexpr std::size_t kGpuWasBusyAt = word_at(offsetof(BatchRecord, gpu_was_busy));
constexpr std::size_t kWorksAt = word_at(offsetof(BatchRecord, works_ns));
// Two numbers share a word with the worker's core, two share the next.
constexpr std::size_t kCoreAt = word_at(offsetof(BatchRecord, core));
constexpr std::size_t kHeldAt = word_at(offsetof(BatchRecord, num_held));
static_assert(offsetof(BatchRecord, num_ready) == offsetof(BatchRecord, core) + 4);
static_assert(offsetof(BatchRecord, num_workers) == offsetof(BatchRecord, num_held) + 4);
constexpr unsigned kHalf = 32;

constexpr std::size_t span_at(RecordStage stage) {
  return word_at(offsetof(BatchRecord, stages)) + kSpanWords * static_cast<std::size_t>(stage);
}

template <class Names>
void put_names(Names& out, auto name) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::string_view text = name(i);
    std::copy_n(text.begin(), std::min(text.size(), kRecordNameBytes - 1), out[i].begin());
  }
}

}  // namespace

std::uint32_t checksum_of(const RecordFileHead& head) {
  const auto bytes = std::as_bytes(std::span(&head, 1));
  const std::uint32_t front = crc32c(bytes.first(offsetof(RecordFileHead, checksum)));
  return crc32c(bytes.subspan(offsetof(RecordFileHead, stages)), front);
}

RecordRing::RecordRing(RecordMemory memory, const RingSize& size, const Clock& clock)
    : memory_(std::move(memory)), num_places_(size.num_places()) {
  RecordFileHead head;
  head.num_places = num_places_;
  head.num_kept = size.num_kept;
  head.begin_ns = clock.now().count();
  head.begin_unix_ns = clock.unix_time_ns();
  head.pid = ::getpid();
  put_names(head.stages, [](std::size_t i) { return name_of(static_cast<RecordStage>(i)); });
  put_names(head.works, [](std::size_t i) { return name_of(static_cast<ConsumerWork>(i)); });
  head.checksum = checksum_of(head);
  std::memcpy(memory_.data(), &head, sizeof head);
}

void RecordRing::end() noexcept {
  store_word(head_word(memory_.data(), offsetof(RecordFileHead, has_ended)), 1);
}

std::uint64_t* RecordRing::place(std::uint64_t number) const noexcept {
  return reinterpret_cast<std::uint64_t*>(memory_.data() + kRecordHeaderBytes +
                                          number % num_places_ * kRecordPlaceBytes);
}

void RecordRing::put(const BatchRecord& record) noexcept {
  RecordWords words;
  std::memcpy(words.data(), &record, sizeof record);
  words[kReleasedAt] = static_cast<std::uint64_t>(unreleased(record.number));
  std::uint64_t* const to = place(record.number);
  store_word(to, mark_of(record.number) | kMarkBusy);
  schedule_point();
  for (std::size_t i = 0; i < kRecordWords; ++i) store_word(to + 1 + i, words[i]);
  schedule_point();
  store_word(to, mark_of(record.number));
}

void RecordRing::put_span(std::uint64_t number, RecordStage stage, const StageSpan& span) noexcept {
  std::uint64_t* const to = place(number) + 1 + span_at(stage);
  store_word(to, static_cast<std::uint64_t>(span.begin_ns));
  store_word(to + 1, static_cast<std::uint64_t>(span.end_ns));
  store_word(to + 2, static_cast<std::uint64_t>(span.busy_ns));
}

void RecordRing::put_ready(std::uint64_t number, std::int64_t ready_ns) noexcept {
  store_word(place(number) + 1 + span_at(RecordStage::kWaitConsumer),
             static_cast<std::uint64_t>(ready_ns));
}

void RecordRing::put_gpu_was_busy(std::uint64_t number, bool was_busy) noexcept {
  store_word(place(number) + 1 + kGpuWasBusyAt, was_busy ? 1 : 0);
}

void RecordRing::put_work(ConsumerWork work, std::int64_t spent_ns) noexcept {
  store_word(place(num_written()) + 1 + kWorksAt + static_cast<std::size_t>(work),
             static_cast<std::uint64_t>(spent_ns));
}

void RecordRing::hand_out(const HandOut& what) noexcept {
  const std::uint64_t number = num_written();
  std::uint64_t* const words = place(number) + 1;
  const std::uint64_t core = load_word(words + kCoreAt) & 0xFFFF'FFFFU;
  store_word(words + kCoreAt, core | std::uint64_t{what.num_ready} << kHalf);
  store_word(words + kHeldAt, what.num_held | std::uint64_t{what.num_workers} << kHalf);
  const std::size_t wait_at = span_at(RecordStage::kWaitConsumer);
  const auto ready_ns = static_cast<std::int64_t>(load_word(words + wait_at));
  // Another core's clock may be a moment ahead.
  const std::int64_t end_ns = std::max(ready_ns, what.handed_ns);
  store_word(words + wait_at + 1, static_cast<std::uint64_t>(end_ns));
  store_word(words + wait_at + 2, static_cast<std::uint64_t>(end_ns - ready_ns));
  store_word(words + kAskedAt, static_cast<std::uint64_t>(what.asked_ns));
  store_word(words + kHandedAt, static_cast<std::uint64_t>(what.handed_ns));
  store_word(words + kConsumerCpuAt, static_cast<std::uint64_t>(what.consumer_cpu_ns));
  schedule_point();
  store_word(head_word(memory_.data(), offsetof(RecordFileHead, num_written)), number + 1);
}

void RecordRing::give_back(std::uint64_t number, std::int64_t released_ns) noexcept {
  schedule_point();
  auto expected = static_cast<std::uint64_t>(unreleased(number));
  std::atomic_ref<std::uint64_t>(place(number)[1 + kReleasedAt])
      .compare_exchange_strong(expected, static_cast<std::uint64_t>(released_ns),
                               std::memory_order_release, std::memory_order_relaxed);
}

void RecordRing::fetch(std::uint64_t number) const noexcept {
  const auto* const from = reinterpret_cast<const std::byte*>(place(number));
  constexpr int kToWrite = 1;
  for (std::size_t at = 0; at < kRecordPlaceBytes; at += kCacheLineBytes)
    __builtin_prefetch(from + at, kToWrite);
}

void RecordRing::fetch_next() const noexcept {
  const std::uint64_t* const words = place(num_written()) + 1;
  constexpr int kToWrite = 1;
  __builtin_prefetch(words + kCoreAt, kToWrite);
  __builtin_prefetch(words + span_at(RecordStage::kWaitConsumer), kToWrite);
  __builtin_prefetch(words + kAskedAt, kToWrite);
}

std::uint64_t RecordRing::num_written() const noexcept {
  return load_word(head_word(memory_.data(), offsetof(RecordFileHead, num_written)));
}

}  // namespace stoker::feed
