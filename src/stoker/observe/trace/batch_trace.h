// From records of batches and figures of the machine to the tracks of a trace.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stoker/feed/records/batch_record.h"
#include "stoker/observe/machine/machine_window.h"
#include "stoker/observe/trace/trace_encoder.h"

namespace stoker::observe {

// Tracks: the consumer (`wait`, then `step` with what it says it did in it), one for each worker (a
// slice `batch` with its stages), the upload thread and the GPU's copies and kernels where there
// are any, and counters. A flow leads from the slowest file of a batch, in the worker that filled
// it, over the GPU and the hand-out to the step.
//
// Utterances take turns in the stages of a fill; a stage's slice is the sum of its turns, and the
// slices of a fill follow each other in the order of the stages. The slices of a step's other work
// are put at its end.
//
// One thread; memory does not grow.
class BatchTrace {
 public:
  BatchTrace(TraceEncoder& encoder, const TraceHead& head);

  // In the order of their numbers. A step ends when the batch after it is asked for: it is written
  // with the next record.
  void add(const feed::BatchRecord& record);
  // Records that could not be had, before the next one.
  void add_lost(std::uint64_t num_lost, std::int64_t at_ns);
  void add(const MachineWindow& window, std::int64_t at_ns);
  // The last step.
  void finish();

 private:
  struct Span {
    std::int64_t begin_ns = 0, end_ns = 0;
  };
  void need_track(std::uint32_t track, TrackKind kind, const std::string& name);
  // Not before the last one of the track ended.
  Span place(std::uint32_t track, std::int64_t begin_ns, std::int64_t length_ns);
  void count(std::uint32_t track, const char* name, std::int64_t at_ns, double value);

  void put_fill(const feed::BatchRecord& record);
  void put_stages(const feed::BatchRecord& record, std::uint32_t track, std::int64_t begin_ns);
  void put_device(const feed::BatchRecord& record);
  void put_wait(const feed::BatchRecord& record);
  void put_step(const feed::BatchRecord& record, const feed::BatchRecord* next);
  void put_works(const feed::BatchRecord& next, const Span& step);

  TraceEncoder& encoder_;
  std::map<std::uint32_t, std::int64_t> ends_ns_;  // of the tracks that are there
  std::optional<feed::BatchRecord> last_;
};

}  // namespace stoker::observe
