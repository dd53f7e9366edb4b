#include "stoker/observe/trace/trace_recorder.h"

#include <algorithm>
#include <utility>

#include "stoker/observe/machine/machine_sampler.h"

namespace stoker::observe {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr nanoseconds kShortestLook = milliseconds(4);
// A consumer that keeps a batch for longer than so many others does not hold the trace up.
constexpr std::uint64_t kMostHeld = 512;
// The GPU's times of a batch come after it was handed out.
constexpr std::int64_t kSettledNs = 20'000'000;

}  // namespace

TraceRecorder::TraceRecorder(feed::RecordReader reader, TraceWriter writer,
                             const TraceRecorderOptions& options)
    : options_(options),
      reader_(std::move(reader)),
      writer_(std::move(writer)),
      every_(options.looks_every) {
  const Result<std::uint64_t> written = reader_.num_written();
  next_ = written ? *written : 0;
  counted_at_ = options_.sampler != nullptr ? options_.sampler->mark() : options_.clock->now();
  thread_ = Thread(kThreadName, [this](const std::stop_token& stop) { watch(stop); });
}

TraceRecorder::~TraceRecorder() = default;

void TraceRecorder::watch(const std::stop_token& stop) {
  Lock lock(mutex_);
  while (!stop.stop_requested()) {
    const nanoseconds next = options_.clock->now() + every_;
    WaitEnd end = WaitEnd::kNotified;
    while (end == WaitEnd::kNotified) end = ended_.wait_until(lock, stop, {options_.clock, next});
    if (end == WaitEnd::kStopped) return;
    look(Look::kUsual);
  }
}

void TraceRecorder::look_now() {
  const Lock lock(mutex_);
  look(Look::kUsual);
}

void TraceRecorder::add(const MachineWindow& window, nanoseconds at) {
  const Lock lock(mutex_);
  writer_.batches().add(window, at.count());
}

TraceSummary TraceRecorder::finish() {
  thread_ = Thread();
  const Lock lock(mutex_);
  look(Look::kLast);
  if (const Result<void> ended = writer_.finish(); !ended) summary_.failure = ended.error();
  summary_.num_bytes = writer_.num_bytes();
  return summary_;
}

void TraceRecorder::look(Look kind) {
  if (summary_.failure) return;
  try {
    take_records(kind);
    if (options_.sampler != nullptr) take_counters();
    writer_.flush();
    summary_.failure = writer_.failure();
  } catch (const Failure& failure) {
    summary_.failure = failure.error();
  }
}

// Given back, with the times that come late; or held for so long that nobody waits for it.
bool TraceRecorder::is_final(const feed::BatchRecord& record, std::uint64_t num_written) const {
  if (num_written - record.number > kMostHeld) return true;
  return record.released_ns > 0 && options_.clock->now().count() - record.handed_ns > kSettledNs;
}

void TraceRecorder::take_records(Look kind) {
  records_.clear();
  const std::uint64_t end = reader_.read_since(next_, records_).take_or_raise().next;
  for (const feed::BatchRecord& record : records_) {
    if (kind == Look::kUsual && !is_final(record, end)) break;
    add_lost_before(record.number, record.asked_ns);
    writer_.batches().add(record);
    ++summary_.num_batches;
    next_ = record.number + 1;
  }
  if (kind == Look::kLast) add_lost_before(end, 0);
  // Fast batches fill the ring in less than the usual time.
  const std::uint64_t room = reader_.head().num_kept;
  if (records_.size() > room / 4) every_ = std::max(kShortestLook, every_ / 2);
  if (records_.size() < room / 16) every_ = std::min(options_.looks_every, every_ * 2);
}

void TraceRecorder::add_lost_before(std::uint64_t number, std::int64_t at_ns) {
  if (number == next_) return;
  writer_.batches().add_lost(number - next_, at_ns);
  summary_.num_lost += number - next_;
  next_ = number;
}

void TraceRecorder::take_counters() {
  if (options_.clock->now() - counted_at_ < options_.counters_every) return;
  const nanoseconds now = options_.sampler->mark();
  writer_.batches().add(options_.sampler->window(counted_at_, now), now.count());
  counted_at_ = now;
}

}  // namespace stoker::observe
