// Writes the trace of a feed while it runs: takes its records from the ring before they are
// overwritten, on a thread of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/thread/sync.h"
#include "stoker/feed/records/record_reader.h"
#include "stoker/observe/trace/trace_writer.h"

namespace stoker::observe {

class MachineSampler;

struct TraceSummary {
  std::uint64_t num_batches = 0;
  std::uint64_t num_lost = 0;  // records that were overwritten before they were read
  std::uint64_t num_bytes = 0;
  std::optional<Error> failure{};  // what ended the writing
};

struct TraceRecorderOptions {
  MachineSampler* sampler = nullptr;  // asked for counters of the machine; null: add() brings them
  std::chrono::nanoseconds counters_every = std::chrono::milliseconds(250);
  // Between two looks at the ring; shorter while batches come fast.
  std::chrono::nanoseconds looks_every = std::chrono::milliseconds(100);
  const Clock* clock = &system_clock();
};

// From construction on; batches handed out before are not in the trace. What it keeps in memory is
// bounded by the ring. The constructor throws MemoryError where no thread can be started.
class TraceRecorder {
 public:
  static constexpr const char* kThreadName = "trace-writer";

  TraceRecorder(feed::RecordReader reader, TraceWriter writer, const TraceRecorderOptions& options);
  ~TraceRecorder();
  TraceRecorder(const TraceRecorder&) = delete;
  TraceRecorder& operator=(const TraceRecorder&) = delete;

  void add(const MachineWindow& window, std::chrono::nanoseconds at);
  // Takes what is there, ends the file and the thread. Once.
  TraceSummary finish();
  // Waits until everything handed out so far was looked at; for tests.
  void look_now();

 private:
  void watch(const std::stop_token& stop);
  enum class Look : std::uint8_t { kUsual, kLast };
  void look(Look kind) STOKER_REQUIRES(mutex_);
  void take_records(Look kind) STOKER_REQUIRES(mutex_);
  void add_lost_before(std::uint64_t number, std::int64_t at_ns) STOKER_REQUIRES(mutex_);
  void take_counters() STOKER_REQUIRES(mutex_);
  bool is_final(const feed::BatchRecord& record, std::uint64_t num_written) const;

  TraceRecorderOptions options_;
  Mutex mutex_;
  ConditionVariable ended_;
  feed::RecordReader reader_ STOKER_GUARDED_BY(mutex_);
  TraceWriter writer_ STOKER_GUARDED_BY(mutex_);
  TraceSummary summary_ STOKER_GUARDED_BY(mutex_);
  std::vector<feed::BatchRecord> records_ STOKER_GUARDED_BY(mutex_);
  std::uint64_t next_ STOKER_GUARDED_BY(mutex_) = 0;
  std::chrono::nanoseconds counted_at_ STOKER_GUARDED_BY(mutex_){};
  std::chrono::nanoseconds every_ STOKER_GUARDED_BY(mutex_);
  Thread thread_;  // last: ends first
};

}  // namespace stoker::observe
