// A run's folder as the trainer leaves it, written by arithmetic: records, metrics and samples of
// the machine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/feed/records/record_ring.h"
#include "tests/doubles/scratch_folder.h"
#include "tests/observe/diagnose/planted_evidence.h"

namespace stoker::observe {

inline std::string metrics_line(std::size_t step, double loss) {
  return "{\"step\":" + std::to_string(step) + ",\"epoch\":0,\"loss\":" + std::to_string(loss) +
         ",\"duration\":0.5,\"prior\":1.5,\"flow\":1.0,\"learning_rate\":0.001,"
         "\"clips_per_s\":80,\"frames_per_s\":9000,\"padding_share\":0.1,\"data_ms\":1,"
         "\"compute_ms\":19,\"step_ms\":20,\"stall_share\":0.05,\"skipped\":false}\n";
}

inline std::string machine_line(double at_s, double gpu_percent) {
  return "{\"at_ns\":" + std::to_string(static_cast<std::int64_t>(1e9 * at_s)) +
         ",\"unix_s\":1.0,\"gpu_percent\":" + std::to_string(gpu_percent) +
         ",\"gpu_throttled\":false,\"own_cores\":1.5,\"other_cores\":0.2,\"cores_allowed\":4,"
         "\"memory_available_bytes\":1073741824}\n";
}

// The records of `evidence` in <folder>/records.ring, as a feed writes them. The ring lives as long
// as the feed.
inline std::shared_ptr<feed::RecordRing> put_records(const std::string& folder,
                                                     const Evidence& evidence) {
  const feed::RingSize size{.num_ahead = 2};
  auto ring = std::make_shared<feed::RecordRing>(
      feed::RecordMemory::in_file({.in_file = true, .run_folder = folder}, size.num_bytes())
          .take_or_raise(),
      size, system_clock());
  ring->publish().take_or_raise();
  for (const feed::BatchRecord& record : evidence.watch.records) {
    ring->put(record);
    ring->hand_out({.asked_ns = record.asked_ns,
                    .handed_ns = record.handed_ns,
                    .num_ready = record.num_ready,
                    .num_held = 1,
                    .num_workers = record.num_workers});
  }
  return ring;
}

}  // namespace stoker::observe
