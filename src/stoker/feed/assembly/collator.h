// Fills one slot as one batch, from plan to last padding: the work of the feed's workers.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stoker/feed/assembly/bad_rows.h"
#include "stoker/feed/assembly/batch_slot.h"
#include "stoker/feed/assembly/optional_fields.h"
#include "stoker/feed/assembly/resident_utterances.h"
#include "stoker/feed/assembly/slot_memory.h"
#include "stoker/feed/records/batch_recorder.h"
#include "stoker/feed/records/thread_use.h"
#include "stoker/feed/sampling/epoch_cursor.h"
#include "stoker/feed/sampling/sampler.h"
#include "stoker/feed/source/read_ahead.h"
#include "stoker/feed/source/utterance_source.h"
#include "stoker/pipeline/slot_filler.h"

namespace stoker::feed {

struct CollatorParts {
  std::shared_ptr<const UtteranceSource> store;
  std::shared_ptr<const Sampler> order;
  std::shared_ptr<EpochCursor> planner;
  std::shared_ptr<const BatchFormat> format;
  std::shared_ptr<BadRows> bad_rows;
  std::shared_ptr<const OptionalFields> extras;  // may be null
  std::shared_ptr<ReadAhead> read_ahead;         // may be null
  std::shared_ptr<SlotMemory> memory;            // of all slots; null: each has its own
  std::shared_ptr<ResidentUtterances> resident;  // what the GPU has already; may be null
  RunRecords records;
  RankRows ranks;
  std::uint64_t end_epoch = std::numeric_limits<std::uint64_t>::max();
  unsigned max_slots = 0;
  unsigned max_workers = 0;
};

// Slots and readers are made when first used; from then on filling allocates nothing.
class Collator final : public pipeline::SlotFiller {
 public:
  explicit Collator(CollatorParts parts);

  std::span<const std::string_view> stages() const override;
  pipeline::FillEnd fill(pipeline::FillContext& context) override;
  std::string name_item(std::uint64_t item) const override;
  bool wants_times() const override { return parts_.records.recorder != nullptr; }
  void filled(const pipeline::FillContext& context,
              const pipeline::FillTimes& times) noexcept override;

  const BatchSlot& slot(std::uint32_t index) const { return *slots_[index]; }
  // For the holder of the slot's lease.
  BatchSlot& leased_slot(std::uint32_t index) const { return *slots_[index]; }

 private:
  // How much of the batch belongs to one row.
  struct Room {
    std::uint32_t num_frames = 0;
    std::uint32_t num_tokens = 0;
  };
  Room room(std::size_t row, const BatchSlot& slot) const;

  UtteranceReader& begin_reading(const pipeline::FillContext& context);
  void place_rows(const BatchPlace& place, BatchSlot& slot) const;
  void place_padded(BatchSlot& slot) const;
  void place_packed(const BatchPlace& place, BatchSlot& slot) const;
  void read_tokens(std::size_t row, BatchSlot& slot, UtteranceReader& reader,
                   pipeline::FillContext& context) const;
  void prefetch_tokens(std::size_t row, const BatchSlot& slot, const UtteranceReader& reader) const;
  void prefetch_mel(std::size_t row, const BatchSlot& slot, const UtteranceReader& reader) const;
  void read_mel(std::size_t row, BatchSlot& slot, UtteranceReader& reader,
                pipeline::FillContext& context) const;
  void read_payload(BatchSlot& slot, UtteranceReader& reader, pipeline::FillContext& context) const;
  Result<std::uint32_t> read_ragged(std::size_t row, BatchSlot& slot, UtteranceReader& reader,
                                    pipeline::FillContext& context) const;
  Result<std::uint32_t> read_utterance(std::uint32_t utterance, std::span<std::byte> out,
                                       UtteranceReader& reader,
                                       pipeline::FillContext& context) const;
  void fill_extras(std::size_t row, BatchSlot& slot, UtteranceReader& reader,
                   pipeline::FillContext& context) const;
  void make_empty(std::size_t row, BatchSlot& slot) const;
  void fill_padding(BatchSlot& slot, std::size_t frame, std::size_t num_frames) const;
  void fill_silence(BatchSlot& slot, std::size_t frame, std::size_t num_frames) const;
  void fill_gaps(BatchSlot& slot) const;
  void note_bad(std::uint32_t utterance, Error error) const;

  const CollatorParts parts_;
  std::vector<std::unique_ptr<BatchSlot>> slots_;  // each entry is touched by one worker at a time
  std::vector<std::unique_ptr<UtteranceReader>> readers_;  // by worker
  std::vector<ThreadUse> uses_;                            // as many
};

}  // namespace stoker::feed
