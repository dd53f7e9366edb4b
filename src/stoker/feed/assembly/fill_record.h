// What a worker knows of the batch that it has filled, as its record says it.
#pragma once

#include "stoker/feed/assembly/batch_slot.h"
#include "stoker/feed/records/batch_record.h"
#include "stoker/feed/source/utterance_source.h"
#include "stoker/pipeline/fill_times.h"

namespace stoker::feed {

// Which batch it is and what it holds; on which core.
void describe_batch(const BatchSlot& slot, BatchRecord& record) noexcept;
void describe_reading(const ReadCounts& counts, BatchRecord& record) noexcept;
// Stages, the slowest utterance, and since when the batch is ready.
void describe_times(const pipeline::FillTimes& times, const UtteranceSource& store,
                    BatchRecord& record) noexcept;

}  // namespace stoker::feed
