// Records of a run that a test knows to the nanosecond: two workers, one consumer, a batch every
// 10 ms.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "stoker/feed/records/batch_record.h"

namespace stoker::observe {

inline constexpr std::int64_t kMs = 1'000'000;
inline constexpr std::int64_t kStartNs = 5'000 * kMs;

inline feed::StageSpan& stage_of(feed::BatchRecord& record, feed::RecordStage stage) {
  return record.stages[static_cast<std::size_t>(stage)];
}

// Filled in 8 ms (fetch 2, mel 6, in turns), waited for 1 ms, held for a step of 9 ms.
inline feed::BatchRecord made_batch(std::uint64_t number) {
  const std::int64_t asked_ns = kStartNs + static_cast<std::int64_t>(number) * 10 * kMs;
  feed::BatchRecord record;
  record.number = number;
  record.batch = number;
  record.worker = static_cast<std::int32_t>(number % 2);
  record.num_workers = 2;
  record.num_rows = 8;
  record.num_ready = 1;
  record.asked_ns = asked_ns;
  record.handed_ns = asked_ns + kMs;
  record.released_ns = asked_ns + 10 * kMs;
  const std::int64_t filled_ns = asked_ns - 9 * kMs;
  stage_of(record, feed::RecordStage::kFetch) = {filled_ns, filled_ns + 7 * kMs, 2 * kMs};
  stage_of(record, feed::RecordStage::kMel) = {filled_ns + kMs, filled_ns + 8 * kMs, 6 * kMs};
  record.worker_cpu_ns = 7 * kMs;
  record.slowest_ns = kMs;
  record.slowest_utterance = 17;
  record.slowest_stage = feed::RecordStage::kFetch;
  std::strcpy(record.slowest_file.data(), "wavs/slow.wav");
  return record;
}

inline std::vector<feed::BatchRecord> made_batches(std::uint64_t count) {
  std::vector<feed::BatchRecord> records;
  for (std::uint64_t i = 0; i < count; ++i) records.push_back(made_batch(i));
  return records;
}

}  // namespace stoker::observe
