// Records made of their numbers, so that a test knows one that is torn or of another batch.
#pragma once

#include <cstdint>
#include <memory>

#include "stoker/base/clock.h"
#include "stoker/feed/records/record_ring.h"

namespace stoker::feed {

inline std::shared_ptr<RecordRing> made_ring(const RingSize& size) {
  return std::make_shared<RecordRing>(RecordMemory::in_process(size.num_bytes()), size,
                                      system_clock());
}

inline std::int64_t value_of(std::uint64_t number) { return static_cast<std::int64_t>(number) + 1; }
inline std::int64_t released_of(std::uint64_t number) { return value_of(number) * 1000; }

inline BatchRecord made_record(std::uint64_t number) {
  const std::int64_t value = value_of(number);
  BatchRecord record;
  record.number = number;
  record.epoch = number + 1;
  record.batch = number + 1;
  record.num_rows = static_cast<std::uint32_t>(value);
  record.core = static_cast<std::int32_t>(value);
  for (StageSpan& span : record.stages) span = {value, value, value};
  record.worker_cpu_ns = value;
  record.bytes_read = number + 1;
  record.slowest_ns = value;
  record.slowest_utterance = static_cast<std::uint32_t>(value);
  return record;
}

inline RecordRing::HandOut made_hand_out(std::uint64_t number) {
  const std::int64_t value = value_of(number);
  return {.asked_ns = value, .handed_ns = value, .num_ready = static_cast<std::uint32_t>(value)};
}

inline void put_and_hand_out(RecordRing& ring, std::uint64_t number) {
  ring.put(made_record(number));
  ring.hand_out(made_hand_out(number));
}

// Whether it is the record of this number and nothing else, handed out.
inline bool is_made(const BatchRecord& found, std::uint64_t number) {
  const std::int64_t value = value_of(number);
  bool is_right = found.number == number && found.epoch == number + 1 && found.batch == number + 1;
  is_right &= found.num_rows == static_cast<std::uint32_t>(value);
  is_right &= found.core == static_cast<std::int32_t>(value);
  is_right &= found.num_ready == static_cast<std::uint32_t>(value);
  for (std::size_t i = 0; i + 1 < kNumRecordStages; ++i) {
    const StageSpan& span = found.stages[i];
    is_right &= span.begin_ns == value && span.end_ns == value && span.busy_ns == value;
  }
  is_right &= found.worker_cpu_ns == value && found.bytes_read == number + 1;
  is_right &= found.asked_ns == value && found.handed_ns == value;
  is_right &= found.slowest_ns == value && found.slowest_utterance == found.num_rows;
  return is_right;
}

}  // namespace stoker::feed
