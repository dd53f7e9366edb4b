#include "stoker/feed/assembly/collator.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "stoker/base/checked.h"
#include "stoker/base/digest/digest.h"
#include "stoker/cache/read/fused_read.h"
#include "stoker/feed/assembly/fill_record.h"
#include "stoker/feed/assembly/upload_block.h"

namespace stoker::feed {
namespace {

// Between the two passes over a row: its tokens are written, its mel is not.
constexpr std::int32_t kMelToCome = -1;
// Texts are short: reading one takes less time than loading the next from memory.
constexpr std::size_t kTokenRowsAhead = 4;

BatchCounts count_rows(const BatchSlot& slot) {
  BatchCounts counts{.num_batches = 1,
                     .all_frames = std::uint64_t{slot.shape.num_rows} * slot.shape.num_frames};
  for (std::size_t at = 0; at < slot.num_rows; ++at) {
    counts.true_frames += static_cast<std::uint64_t>(slot.mel_len[at]);
    if (slot.mel_len[at] > 0) ++counts.num_clips;
    if (slot.mel_len[at] == 0 && slot.utterances[at] != kEmptyRow) ++counts.num_empty_bad;
  }
  return counts;
}

}  // namespace

Collator::Collator(CollatorParts parts)
    : parts_(std::move(parts)),
      slots_(parts_.max_slots),
      readers_(parts_.max_workers),
      uses_(parts_.max_workers) {}

std::span<const std::string_view> Collator::stages() const {
  static const std::array<std::string_view, kNumStages> names = [] {
    std::array<std::string_view, kNumStages> all;
    for (std::size_t i = 0; i < kNumStages; ++i) all[i] = name_of(static_cast<RecordStage>(i));
    return all;
  }();
  return names;
}

std::string Collator::name_item(std::uint64_t item) const {
  return std::string(parts_.store->file(static_cast<std::uint32_t>(item)));
}

UtteranceReader& Collator::begin_reading(const pipeline::FillContext& context) {
  auto& reader = readers_[context.worker()];
  if (reader == nullptr) reader = parts_.store->make_reader();
  if (wants_times()) uses_[context.worker()].begin(context.is_caller());
  return *reader;
}

pipeline::FillEnd Collator::fill(pipeline::FillContext& context) {
  context.enter(kPlan);
  const BatchPlace place = parts_.planner->locate(context.sequence());
  if (place.plan->epoch >= parts_.end_epoch) return pipeline::FillEnd::kPastEnd;
  if (parts_.read_ahead != nullptr) parts_.read_ahead->filling(context.sequence());
  auto& slot = slots_[context.slot()];
  if (slot == nullptr) {
    slot = std::make_unique<BatchSlot>(*parts_.format, parts_.memory == nullptr
                                                           ? BatchSlot::Memory()
                                                           : parts_.memory->of(context.slot()));
  }
  UtteranceReader& reader = begin_reading(context);
  reader.enter_epoch(place.plan->epoch);

  place_rows(place, *slot);
  context.enter(kText);
  for (std::size_t row = 0; row < slot->num_rows; ++row) {
    prefetch_tokens(row + kTokenRowsAhead, *slot, reader);
    read_tokens(row, *slot, reader, context);
  }
  context.enter(kFetch);
  if (parts_.format->payload == SlotPayload::kPaddedMel) {
    for (std::size_t row = 0; row < slot->num_rows; ++row) {
      prefetch_mel(row + 1, *slot, reader);
      read_mel(row, *slot, reader, context);
    }
    for (std::size_t row = 0; row < slot->num_rows; ++row) fill_extras(row, *slot, reader, context);
  } else {
    read_payload(*slot, reader, context);
  }
  context.enter(kAssemble);
  fill_gaps(*slot);
  slot->counts = count_rows(*slot);
  if (parts_.format->is_for_device) {
    UploadBlock(*slot).write(*slot, *parts_.format);
    slot->extra_places.write_lengths(*slot);
  }
  return pipeline::FillEnd::kFilled;
}

void Collator::place_rows(const BatchPlace& place, BatchSlot& slot) const {
  slot.shape_index = place.batch().shape_index;
  const BatchShape& global = parts_.order->shapes()[slot.shape_index];
  slot.epoch = place.plan->epoch;
  slot.index = place.index;
  slot.is_last = place.is_last();
  slot.global_shape = global;
  slot.shape = {parts_.ranks.num_rows(global.num_rows), global.num_frames, global.num_tokens};
  const std::span<const std::uint32_t> rows = place.plan->view_rows(place.batch());
  slot.global_utterances.assign(rows.begin(), rows.end());
  if (parts_.format->layout == BatchLayout::kPacked) {
    place_packed(place, slot);
  } else {
    slot.global_utterances.resize(global.num_rows, kEmptyRow);
    place_padded(slot);
  }
  slot.extra_places.lay_out(
      *parts_.format, {slot.num_rows, std::size_t{slot.shape.num_rows} * slot.shape.num_frames});
  for (std::size_t row = 0; row < slot.num_rows; ++row) {
    const std::uint32_t utterance = slot.utterances[row];
    slot.speaker[row] = utterance == kEmptyRow ? 0 : parts_.store->speaker(utterance);
    slot.language[row] = utterance == kEmptyRow ? 0 : parts_.store->language(utterance);
    if (slot.row_keys.empty()) continue;
    slot.row_keys[row] = utterance == kEmptyRow ? 0 : hash64(parts_.store->id(utterance));
  }
}

void Collator::place_padded(BatchSlot& slot) const {
  slot.num_rows = slot.shape.num_rows;
  for (std::uint32_t row = 0; row < slot.num_rows; ++row) {
    slot.utterances[row] = slot.global_utterances[parts_.ranks.place_in_batch(row)];
    slot.frame_begins[row] = row * slot.shape.num_frames;
    slot.token_begins[row] = row * slot.shape.num_tokens;
  }
}

void Collator::place_packed(const BatchPlace& place, BatchSlot& slot) const {
  const std::vector<std::uint32_t>& begins = place.plan->bin_begins;
  slot.num_rows = 0;
  for (std::uint32_t local = 0; local < slot.shape.num_rows; ++local) {
    const std::size_t bin =
        place.index * slot.global_shape.num_rows + parts_.ranks.place_in_batch(local);
    std::uint32_t frame = local * slot.shape.num_frames;
    std::uint32_t token = local * slot.shape.num_tokens;
    for (std::uint32_t i = begins[bin]; i < begins[bin + 1]; ++i) {
      const SampledUtterance& utterance = parts_.order->rows()[place.plan->rows[i]];
      slot.utterances[slot.num_rows] = place.plan->rows[i];
      slot.frame_begins[slot.num_rows] = frame;
      slot.token_begins[slot.num_rows] = token;
      ++slot.num_rows;
      frame += utterance.num_frames;
      token += utterance.num_tokens;
    }
  }
}

Collator::Room Collator::room(std::size_t row, const BatchSlot& slot) const {
  if (parts_.format->layout == BatchLayout::kPadded) {
    return {slot.shape.num_frames, slot.shape.num_tokens};
  }
  const SampledUtterance& utterance = parts_.order->rows()[slot.utterances[row]];
  return {utterance.num_frames, utterance.num_tokens};
}

void Collator::read_tokens(std::size_t row, BatchSlot& slot, UtteranceReader& reader,
                           pipeline::FillContext& context) const {
  const std::uint32_t utterance = slot.utterances[row];
  if (utterance == kEmptyRow) return make_empty(row, slot);
  context.at_item(utterance);
  const std::span<std::int32_t> out =
      std::span(slot.tokens).subspan(slot.token_begins[row], room(row, slot).num_tokens);
  const Result<std::uint32_t> read = reader.read_tokens(utterance, out);
  if (!read) {
    note_bad(utterance, read.error());
    return make_empty(row, slot);
  }
  slot.text_len[row] = static_cast<std::int32_t>(*read);
  slot.mel_len[row] = kMelToCome;
  std::fill(out.begin() + *read, out.end(), 0);
}

void Collator::prefetch_mel(std::size_t row, const BatchSlot& slot,
                            const UtteranceReader& reader) const {
  if (row < slot.num_rows && slot.utterances[row] != kEmptyRow)
    reader.prefetch(slot.utterances[row]);
}

void Collator::prefetch_tokens(std::size_t row, const BatchSlot& slot,
                               const UtteranceReader& reader) const {
  if (row < slot.num_rows && slot.utterances[row] != kEmptyRow)
    reader.prefetch_tokens(slot.utterances[row]);
}

void Collator::read_mel(std::size_t row, BatchSlot& slot, UtteranceReader& reader,
                        pipeline::FillContext& context) const {
  if (slot.mel_len[row] != kMelToCome) return;
  const std::uint32_t utterance = slot.utterances[row];
  context.begin_item(utterance);
  const MelTarget target{slot.mel_at(*parts_.format, slot.frame_begins[row]), parts_.format->dtype,
                         room(row, slot).num_frames, parts_.format->padding};
  const Result<std::uint32_t> read = reader.read_mel(utterance, target, context);
  if (!read) {
    note_bad(utterance, read.error());
    return make_empty(row, slot);
  }
  slot.mel_len[row] = static_cast<std::int32_t>(*read);
}

// The rows one after the other, without padding: the GPU lays them out. What is optional comes
// first, because a row whose bytes are on their way to the GPU can no longer be made empty.
void Collator::read_payload(BatchSlot& slot, UtteranceReader& reader,
                            pipeline::FillContext& context) const {
  slot.payload_used_bytes = 0;
  slot.num_in_place = 0;
  for (std::size_t row = 0; row < slot.num_rows; ++row) {
    const std::uint32_t utterance = slot.utterances[row];
    slot.payload_begins[row] = 0;
    slot.payload_len[row] = 0;
    if (slot.mel_len[row] == kMelToCome) {
      slot.mel_len[row] = static_cast<std::int32_t>(parts_.order->rows()[utterance].num_frames);
    }
    fill_extras(row, slot, reader, context);
    if (slot.mel_len[row] == 0) continue;
    context.begin_item(utterance);
    if (parts_.resident != nullptr && parts_.resident->is_before(utterance, context.sequence())) {
      slot.payload_begins[row] = BatchSlot::kOnDevice;
      continue;
    }
    const Result<std::uint32_t> read = read_ragged(row, slot, reader, context);
    if (read) {
      slot.payload_len[row] = static_cast<std::int32_t>(*read);
      if (parts_.resident != nullptr) parts_.resident->will_be(utterance, context.sequence());
    } else {
      note_bad(utterance, read.error());
      make_empty(row, slot);
      fill_extras(row, slot, reader, context);
    }
  }
}

// Notes where the utterance is in the mapped cache if it may be copied from there, else reads it
// into the slot.
Result<std::uint32_t> Collator::read_ragged(std::size_t row, BatchSlot& slot,
                                            UtteranceReader& reader,
                                            pipeline::FillContext& context) const {
  const BatchFormat& format = *parts_.format;
  const std::uint32_t utterance = slot.utterances[row];
  const bool is_pcm = format.payload == SlotPayload::kRaggedPcm;
  const std::size_t unit_bytes = is_pcm ? sizeof(std::int16_t) : format.bytes_per_frame();
  slot.payload_begins[row] = static_cast<std::int64_t>(slot.payload_used_bytes / unit_bytes);
  std::span<const std::byte> found;
  if (format.rows_in_place) {
    found = is_pcm ? reader.find_pcm(utterance) : reader.find_mel(utterance, format.dtype);
  }
  Result<std::uint32_t> count(static_cast<std::uint32_t>(found.size() / unit_bytes));
  slot.payload_from[row] = found.data();
  if (found.empty()) {
    const std::span<std::byte> out{slot.mel.data() + slot.payload_used_bytes,
                                   slot.mel.size() - slot.payload_used_bytes};
    slot.payload_from[row] = out.data();
    count = read_utterance(utterance, out, reader, context);
    if (!count) return count;
  } else {
    ++slot.num_in_place;
  }
  slot.payload_used_bytes += round_up(*count * unit_bytes, format.payload_unit_bytes());
  return count;
}

// Returns the number of samples or frames.
Result<std::uint32_t> Collator::read_utterance(std::uint32_t utterance, std::span<std::byte> out,
                                               UtteranceReader& reader,
                                               pipeline::FillContext& context) const {
  const BatchFormat& format = *parts_.format;
  if (format.payload == SlotPayload::kRaggedPcm) {
    return reader.read_pcm(
        utterance, {reinterpret_cast<std::int16_t*>(out.data()), out.size() / sizeof(std::int16_t)},
        context);
  }
  const std::uint32_t num_frames = parts_.order->rows()[utterance].num_frames;
  return reader.read_mel(utterance, {out.data(), format.dtype, num_frames, format.padding},
                         context);
}

void Collator::fill_extras(std::size_t row, BatchSlot& slot, UtteranceReader& reader,
                           pipeline::FillContext& context) const {
  if (parts_.extras == nullptr) return;
  if (slot.utterances[row] != kEmptyRow) context.begin_item(slot.utterances[row]);
  context.enter(kAssemble);
  const std::function<void(std::uint32_t, Error)> note =
      [this](std::uint32_t utterance, Error error) { note_bad(utterance, std::move(error)); };
  const OptionalFields::Work work{*parts_.format, slot, reader, context, note};
  if (const Result<void> filled = parts_.extras->fill(row, work); !filled) {
    note_bad(slot.utterances[row], filled.error());
    make_empty(row, slot);
    parts_.extras->fill(row, work).take_or_raise();
  }
  context.enter(kFetch);
}

void Collator::filled(const pipeline::FillContext& context,
                      const pipeline::FillTimes& times) noexcept {
  const BatchSlot& slot = *slots_[context.slot()];
  RecordRing& ring = *parts_.records.recorder->ring();
  BatchRecord record;
  record.number = parts_.records.number_of(context.sequence());
  ring.fetch(record.number);
  record.worker = context.is_caller() ? -1 : static_cast<std::int32_t>(context.worker());
  uses_[context.worker()].finish(times.ended().count(), record);
  describe_batch(slot, record);
  describe_reading(readers_[context.worker()]->take_counts(), record);
  describe_times(times, *parts_.store, record);
  ring.put(record);
}

void Collator::make_empty(std::size_t row, BatchSlot& slot) const {
  const Room space = room(row, slot);
  slot.text_len[row] = 0;
  slot.mel_len[row] = 0;
  std::fill_n(slot.tokens.begin() + slot.token_begins[row], space.num_tokens, 0);
  fill_padding(slot, slot.frame_begins[row], space.num_frames);
}

void Collator::fill_padding(BatchSlot& slot, std::size_t frame, std::size_t num_frames) const {
  if (parts_.format->payload != SlotPayload::kPaddedMel) return;
  cache::fill_values(slot.mel_at(*parts_.format, frame), cache::element_of(parts_.format->dtype),
                     num_frames * parts_.format->num_mels, parts_.format->padding);
}

void Collator::fill_silence(BatchSlot& slot, std::size_t frame, std::size_t num_frames) const {
  if (!parts_.format->needs_audio()) return;
  const std::size_t hop = parts_.format->hop_samples;
  std::fill_n(reinterpret_cast<float*>(slot.extras.data() + slot.extra_places.audio) + frame * hop,
              num_frames * hop, 0.0F);
}

// Packed: what is left between the last utterance of a bin and the bin's end.
void Collator::fill_gaps(BatchSlot& slot) const {
  if (parts_.format->layout == BatchLayout::kPadded) return;
  std::size_t row = 0;
  for (std::uint32_t bin = 0; bin < slot.shape.num_rows; ++bin) {
    std::size_t frame = std::size_t{bin} * slot.shape.num_frames;
    std::size_t token = std::size_t{bin} * slot.shape.num_tokens;
    const std::size_t frames_end = frame + slot.shape.num_frames;
    const std::size_t tokens_end = token + slot.shape.num_tokens;
    for (; row < slot.num_rows && slot.frame_begins[row] < frames_end; ++row) {
      frame = slot.frame_begins[row] + room(row, slot).num_frames;
      token = slot.token_begins[row] + room(row, slot).num_tokens;
    }
    fill_padding(slot, frame, frames_end - frame);
    fill_silence(slot, frame, frames_end - frame);
    std::fill(slot.tokens.begin() + static_cast<std::ptrdiff_t>(token),
              slot.tokens.begin() + static_cast<std::ptrdiff_t>(tokens_end), 0);
  }
}

void Collator::note_bad(std::uint32_t utterance, Error error) const {
  if (error.code->exit != ExitCode::kData) raise(std::move(error));
  if (error.place.file.empty()) error.place.file = std::string(parts_.store->file(utterance));
  parts_.bad_rows->record({utterance, std::string(parts_.store->id(utterance)),
                           parts_.store->line(utterance), std::move(error)});
}

}  // namespace stoker::feed
