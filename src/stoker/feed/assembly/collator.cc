#include "stoker/feed/assembly/collator.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "stoker/base/checked.h"
#include "stoker/base/digest/digest.h"
#include "stoker/cache/read/fused_read.h"
#include "stoker/feed/device/pack.h"

namespace stoker::feed {
namespace {

constexpr std::array<std::string_view, kNumStages> kStageNames{"plan",   "tokens", "fetch",
                                                               "decode", "mel",    "extras"};
// Between the two passes over a row: its tokens are in place, its mel is still to come.
constexpr std::int32_t kMelToCome = -1;
// Texts are short: one is read before the memory of the next could come.
constexpr std::size_t kTokenRowsAhead = 4;

BatchSums sum_rows(const BatchSlot& slot) {
  BatchSums sums{.all_frames = std::uint64_t{slot.shape.num_rows} * slot.shape.num_frames};
  for (std::size_t at = 0; at < slot.num_rows; ++at) {
    sums.true_frames += static_cast<std::uint64_t>(slot.mel_len[at]);
    if (slot.mel_len[at] > 0) ++sums.num_clips;
    if (slot.mel_len[at] == 0 && slot.rows[at] != kEmptyRow) ++sums.num_empty_bad;
  }
  return sums;
}

}  // namespace

Collator::Collator(CollatorParts parts)
    : parts_(std::move(parts)), slots_(parts_.max_slots), readers_(parts_.max_workers) {}

std::span<const std::string_view> Collator::stages() const { return kStageNames; }

std::string Collator::name_item(std::uint64_t item) const {
  return parts_.store->file(static_cast<std::uint32_t>(item));
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
  auto& reader = readers_[context.worker()];
  if (reader == nullptr) reader = parts_.store->make_reader();
  reader->enter_epoch(place.plan->epoch);

  place_rows(place, *slot);
  context.enter(kTokens);
  for (std::size_t at = 0; at < slot->num_rows; ++at) {
    prefetch_tokens(at + kTokenRowsAhead, *slot, *reader);
    read_tokens(at, *slot, *reader, context);
  }
  context.enter(kFetch);
  if (parts_.format->payload == SlotPayload::kPaddedMel) {
    for (std::size_t at = 0; at < slot->num_rows; ++at) {
      expect_row(at + 1, *slot, *reader);
      read_mel(at, *slot, *reader, context);
    }
    for (std::size_t at = 0; at < slot->num_rows; ++at) fill_extras(at, *slot, *reader, context);
  } else {
    read_payload(*slot, *reader, context);
  }
  fill_gaps(*slot);
  slot->sums = sum_rows(*slot);
  if (parts_.format->is_for_device) DevicePack(*slot).write(*slot, *parts_.format);
  return pipeline::FillEnd::kFilled;
}

void Collator::place_rows(const BatchPlace& place, BatchSlot& slot) const {
  const BatchShape& global = parts_.order->shapes()[place.batch().shape_index];
  slot.epoch = place.plan->epoch;
  slot.index = place.index;
  slot.is_last = place.is_last();
  slot.global_shape = global;
  slot.shape = {parts_.ranks.num_rows(global.num_rows), global.num_frames, global.num_tokens};
  const std::span<const std::uint32_t> rows = place.plan->view_rows(place.batch());
  slot.global_rows.assign(rows.begin(), rows.end());
  if (parts_.format->layout == BatchLayout::kPacked) {
    place_packed(place, slot);
  } else {
    slot.global_rows.resize(global.num_rows, kEmptyRow);
    place_padded(slot);
  }
  for (std::size_t at = 0; at < slot.num_rows; ++at) {
    const std::uint32_t row = slot.rows[at];
    slot.speaker[at] = row == kEmptyRow ? 0 : parts_.store->speaker(row);
    slot.language[at] = row == kEmptyRow ? 0 : parts_.store->language(row);
    if (slot.row_keys.empty()) continue;
    slot.row_keys[at] = row == kEmptyRow ? 0 : hash64(parts_.store->id(row));
  }
}

void Collator::place_padded(BatchSlot& slot) const {
  slot.num_rows = slot.shape.num_rows;
  for (std::uint32_t at = 0; at < slot.num_rows; ++at) {
    slot.rows[at] = slot.global_rows[parts_.ranks.place_in_batch(at)];
    slot.frame_begins[at] = at * slot.shape.num_frames;
    slot.token_begins[at] = at * slot.shape.num_tokens;
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
      const SampledUtterance& row = parts_.order->rows()[place.plan->rows[i]];
      slot.rows[slot.num_rows] = place.plan->rows[i];
      slot.frame_begins[slot.num_rows] = frame;
      slot.token_begins[slot.num_rows] = token;
      ++slot.num_rows;
      frame += row.num_frames;
      token += row.num_tokens;
    }
  }
}

Collator::Room Collator::room(std::size_t at, const BatchSlot& slot) const {
  if (parts_.format->layout == BatchLayout::kPadded) {
    return {slot.shape.num_frames, slot.shape.num_tokens};
  }
  const SampledUtterance& row = parts_.order->rows()[slot.rows[at]];
  return {row.num_frames, row.num_tokens};
}

void Collator::read_tokens(std::size_t at, BatchSlot& slot, UtteranceReader& reader,
                           pipeline::FillContext& context) const {
  const std::uint32_t row = slot.rows[at];
  if (row == kEmptyRow) return make_empty(at, slot);
  context.at_item(row);
  const std::span<std::int32_t> out =
      std::span(slot.tokens).subspan(slot.token_begins[at], room(at, slot).num_tokens);
  const Result<std::uint32_t> read = reader.read_tokens(row, out);
  if (!read) {
    note_bad(row, read.error());
    return make_empty(at, slot);
  }
  slot.text_len[at] = static_cast<std::int32_t>(*read);
  slot.mel_len[at] = kMelToCome;
  std::fill(out.begin() + *read, out.end(), 0);
}

void Collator::expect_row(std::size_t at, const BatchSlot& slot,
                          const UtteranceReader& reader) const {
  if (at < slot.num_rows && slot.rows[at] != kEmptyRow) reader.prefetch(slot.rows[at]);
}

void Collator::prefetch_tokens(std::size_t at, const BatchSlot& slot,
                               const UtteranceReader& reader) const {
  if (at < slot.num_rows && slot.rows[at] != kEmptyRow) reader.prefetch_tokens(slot.rows[at]);
}

void Collator::read_mel(std::size_t at, BatchSlot& slot, UtteranceReader& reader,
                        pipeline::FillContext& context) const {
  if (slot.mel_len[at] != kMelToCome) return;
  const std::uint32_t row = slot.rows[at];
  context.at_item(row);
  const MelTarget target{slot.mel_at(*parts_.format, slot.frame_begins[at]), parts_.format->dtype,
                         room(at, slot).num_frames, parts_.format->padding};
  const Result<std::uint32_t> read = reader.read_mel(row, target, context);
  if (!read) {
    note_bad(row, read.error());
    return make_empty(at, slot);
  }
  slot.mel_len[at] = static_cast<std::int32_t>(*read);
}

// The rows one after the other, without padding: the GPU lays them out. What is optional comes
// first, because a row whose bytes are on their way to the GPU can no longer be made empty.
void Collator::read_payload(BatchSlot& slot, UtteranceReader& reader,
                            pipeline::FillContext& context) const {
  slot.payload_used_bytes = 0;
  slot.num_in_place = 0;
  for (std::size_t at = 0; at < slot.num_rows; ++at) {
    const std::uint32_t row = slot.rows[at];
    slot.payload_begins[at] = 0;
    slot.payload_len[at] = 0;
    if (slot.mel_len[at] == kMelToCome) {
      slot.mel_len[at] = static_cast<std::int32_t>(parts_.order->rows()[row].num_frames);
    }
    fill_extras(at, slot, reader, context);
    if (slot.mel_len[at] == 0) continue;
    context.at_item(row);
    if (parts_.resident != nullptr && parts_.resident->is_before(row, context.sequence())) {
      slot.payload_begins[at] = BatchSlot::kOnDevice;
      continue;
    }
    const Result<std::uint32_t> read = read_ragged(at, slot, reader, context);
    if (read) {
      slot.payload_len[at] = static_cast<std::int32_t>(*read);
      if (parts_.resident != nullptr) parts_.resident->will_be(row, context.sequence());
    } else {
      note_bad(row, read.error());
      make_empty(at, slot);
      fill_extras(at, slot, reader, context);
    }
  }
}

// Leaves the row where it lies if it may be copied from there, else reads it into the slot.
Result<std::uint32_t> Collator::read_ragged(std::size_t at, BatchSlot& slot,
                                            UtteranceReader& reader,
                                            pipeline::FillContext& context) const {
  const BatchFormat& format = *parts_.format;
  const std::uint32_t row = slot.rows[at];
  const bool is_pcm = format.payload == SlotPayload::kRaggedPcm;
  const std::size_t unit_bytes = is_pcm ? sizeof(std::int16_t) : format.bytes_per_frame();
  slot.payload_begins[at] = static_cast<std::int64_t>(slot.payload_used_bytes / unit_bytes);
  std::span<const std::byte> found;
  if (format.rows_in_place) {
    found = is_pcm ? reader.find_pcm(row) : reader.find_mel(row, format.dtype);
  }
  Result<std::uint32_t> count(static_cast<std::uint32_t>(found.size() / unit_bytes));
  slot.payload_from[at] = found.data();
  if (found.empty()) {
    const std::span<std::byte> out{slot.mel.data() + slot.payload_used_bytes,
                                   slot.mel.size() - slot.payload_used_bytes};
    slot.payload_from[at] = out.data();
    count = read_row(row, out, reader, context);
    if (!count) return count;
  } else {
    ++slot.num_in_place;
  }
  slot.payload_used_bytes += round_up(*count * unit_bytes, format.payload_unit_bytes());
  return count;
}

// Returns the number of samples or frames.
Result<std::uint32_t> Collator::read_row(std::uint32_t row, std::span<std::byte> out,
                                         UtteranceReader& reader,
                                         pipeline::FillContext& context) const {
  const BatchFormat& format = *parts_.format;
  if (format.payload == SlotPayload::kRaggedPcm) {
    return reader.read_pcm(
        row, {reinterpret_cast<std::int16_t*>(out.data()), out.size() / sizeof(std::int16_t)},
        context);
  }
  const std::uint32_t num_frames = parts_.order->rows()[row].num_frames;
  return reader.read_mel(row, {out.data(), format.dtype, num_frames, format.padding}, context);
}

void Collator::fill_extras(std::size_t at, BatchSlot& slot, UtteranceReader& reader,
                           pipeline::FillContext& context) const {
  if (parts_.extras == nullptr) return;
  context.enter(kExtras);
  const std::function<void(std::uint32_t, Error)> note = [this](std::uint32_t row, Error error) {
    note_bad(row, std::move(error));
  };
  const OptionalFields::Work work{*parts_.format, slot, reader, context, note};
  if (const Result<void> filled = parts_.extras->fill(at, work); !filled) {
    note_bad(slot.rows[at], filled.error());
    make_empty(at, slot);
    parts_.extras->fill(at, work).take_or_raise();
  }
  context.enter(kFetch);
}

void Collator::make_empty(std::size_t at, BatchSlot& slot) const {
  const Room space = room(at, slot);
  slot.text_len[at] = 0;
  slot.mel_len[at] = 0;
  std::fill_n(slot.tokens.begin() + slot.token_begins[at], space.num_tokens, 0);
  fill_padding(slot, slot.frame_begins[at], space.num_frames);
}

void Collator::fill_padding(BatchSlot& slot, std::size_t frame, std::size_t num_frames) const {
  if (parts_.format->payload != SlotPayload::kPaddedMel) return;
  cache::fill_values(slot.mel_at(*parts_.format, frame), cache::element_of(parts_.format->dtype),
                     num_frames * parts_.format->num_mels, parts_.format->padding);
}

void Collator::fill_silence(BatchSlot& slot, std::size_t frame, std::size_t num_frames) const {
  if (!parts_.format->needs_audio()) return;
  const std::size_t hop = parts_.format->hop_samples;
  std::fill_n(reinterpret_cast<float*>(slot.audio.data()) + frame * hop, num_frames * hop, 0.0F);
}

// Packed: what lies between the last utterance of a bin and the bin's end.
void Collator::fill_gaps(BatchSlot& slot) const {
  if (parts_.format->layout == BatchLayout::kPadded) return;
  std::size_t at = 0;
  for (std::uint32_t bin = 0; bin < slot.shape.num_rows; ++bin) {
    std::size_t frame = std::size_t{bin} * slot.shape.num_frames;
    std::size_t token = std::size_t{bin} * slot.shape.num_tokens;
    const std::size_t frames_end = frame + slot.shape.num_frames;
    const std::size_t tokens_end = token + slot.shape.num_tokens;
    for (; at < slot.num_rows && slot.frame_begins[at] < frames_end; ++at) {
      frame = slot.frame_begins[at] + room(at, slot).num_frames;
      token = slot.token_begins[at] + room(at, slot).num_tokens;
    }
    fill_padding(slot, frame, frames_end - frame);
    fill_silence(slot, frame, frames_end - frame);
    std::fill(slot.tokens.begin() + static_cast<std::ptrdiff_t>(token),
              slot.tokens.begin() + static_cast<std::ptrdiff_t>(tokens_end), 0);
  }
}

void Collator::note_bad(std::uint32_t row, Error error) const {
  if (error.code->exit != ExitCode::kData) raise(std::move(error));
  if (error.place.file.empty()) error.place.file = parts_.store->file(row);
  parts_.bad_rows->record(
      {row, std::string(parts_.store->id(row)), parts_.store->line(row), std::move(error)});
}

}  // namespace stoker::feed
