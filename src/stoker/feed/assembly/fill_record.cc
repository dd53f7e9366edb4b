#include "stoker/feed/assembly/fill_record.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "stoker/base/thread/core_choice.h"

namespace stoker::feed {
namespace {

// The end of a path tells more than its front.
void put_file(std::string_view file, BatchRecord& record) {
  const std::size_t most = record.slowest_file.size() - 1;
  if (file.size() > most) file.remove_prefix(file.size() - most);
  std::copy(file.begin(), file.end(), record.slowest_file.begin());
}

}  // namespace

void describe_batch(const BatchSlot& slot, BatchRecord& record) noexcept {
  record.epoch = slot.epoch;
  record.batch = slot.index;
  record.shape = slot.shape_index;
  record.num_rows = slot.num_rows;
  record.num_frames = static_cast<std::uint32_t>(slot.counts.true_frames);
  record.padded_frames = static_cast<std::uint32_t>(slot.counts.all_frames);
  record.num_tokens = static_cast<std::uint32_t>(
      std::accumulate(slot.text_len.begin(), slot.text_len.begin() + slot.num_rows, 0));
  record.core = current_core().value_or(-1);
}

void describe_reading(const ReadCounts& counts, BatchRecord& record) noexcept {
  record.bytes_read = counts.num_bytes;
  record.num_cache_hits = counts.num_cached;
  record.num_cache_misses = counts.num_made;
}

void describe_times(const pipeline::FillTimes& times, const UtteranceSource& store,
                    BatchRecord& record) noexcept {
  for (std::size_t i = 0; i < kNumStages; ++i) {
    const pipeline::FillTimes::Stage& stage = times.stage(i);
    if (stage.end.count() == 0) continue;
    record.stages[i] = {stage.begin.count(), stage.end.count(), stage.busy.count()};
  }
  record.stages[static_cast<std::size_t>(RecordStage::kWaitConsumer)].begin_ns =
      times.ended().count();
  const pipeline::FillTimes::Slowest& slowest = times.slowest();
  if (slowest.item == pipeline::kNoItem) return;
  record.slowest_ns = slowest.time.count();
  record.slowest_utterance = static_cast<std::uint32_t>(slowest.item);
  record.slowest_stage = static_cast<RecordStage>(slowest.stage);
  put_file(store.file(record.slowest_utterance), record);
}

}  // namespace stoker::feed
