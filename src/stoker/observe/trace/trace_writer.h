// A trace file that grows while a feed runs: format by suffix, whole after every write.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/result.h"
#include "stoker/feed/records/record_format.h"
#include "stoker/observe/trace/batch_trace.h"

namespace stoker {
class GrowingOutput;
}

namespace stoker::observe {

// One thread. The first failure ends the writing: later calls do nothing, and failure() has it.
class TraceWriter {
 public:
  // Opens the file at once, so that a place that cannot be written is known before the work.
  static Result<TraceWriter> open(Io& io, const std::string& path, const TraceHead& head);
  // Whole parts go to `sink`, in order: for standard output.
  using Sink = std::function<Result<void>(std::span<const std::byte>)>;
  TraceWriter(Sink sink, TraceFormat format, const TraceHead& head);
  TraceWriter(TraceWriter&&) noexcept;
  TraceWriter& operator=(TraceWriter&&) noexcept;
  ~TraceWriter();

  BatchTrace& batches() { return *batches_; }
  // Writes what came since the last call.
  void flush();
  // The last step and the end of the file.
  Result<void> finish();

  const std::optional<Error>& failure() const { return failure_; }
  std::uint64_t num_bytes() const { return num_bytes_; }

 private:
  TraceWriter(TraceFormat format, const TraceHead& head);
  std::string packed(std::string_view text) const;
  void write(bool is_last);

  TraceFormat format_;
  std::unique_ptr<TraceEncoder> encoder_;
  std::unique_ptr<BatchTrace> batches_;
  std::unique_ptr<GrowingOutput> file_;  // null: to the sink
  Sink sink_;
  std::string ending_;
  std::optional<Error> failure_;
  std::uint64_t num_bytes_ = 0;
};

TraceHead trace_head_of(const feed::RecordFileHead& head);

}  // namespace stoker::observe
