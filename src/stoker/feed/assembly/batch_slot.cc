#include "stoker/feed/assembly/batch_slot.h"

#include "stoker/feed/assembly/upload_block.h"

namespace stoker::feed {

std::size_t BatchFormat::payload_unit_bytes() const {
  return payload == SlotPayload::kRaggedPcm ? kSampleAlignment * sizeof(std::int16_t)
                                            : bytes_per_frame();
}

std::size_t BatchFormat::payload_bytes() const {
  if (payload != SlotPayload::kRaggedPcm) return max_mel_frames * bytes_per_frame();
  // An utterance of f frames has fewer than (f + 1) * hop samples, or one window's more.
  const std::size_t samples = max_mel_frames * hop_samples + max_rows * max_extra_samples;
  return samples * sizeof(std::int16_t) + max_rows * payload_unit_bytes();
}

std::size_t BatchFormat::slot_bytes() const {
  constexpr std::size_t kNumbersPerRow = 10;
  const std::size_t array_bytes = AlignedBytes::taken_bytes(payload_bytes()) +
                                  AlignedBytes::taken_bytes(ExtrasBlock::most(*this).size_bytes) +
                                  arrays.size() * max_rows * sizeof(std::int32_t);
  return array_bytes + max_tokens * sizeof(std::int32_t) +
         max_rows * kNumbersPerRow * sizeof(std::int32_t) +
         (is_for_device ? UploadBlock::most_bytes(*this) : 0);
}

BatchSlot::BatchSlot(const BatchFormat& format, const Memory& memory)
    : utterances(format.max_rows),
      text_len(format.max_rows),
      mel_len(format.max_rows),
      speaker(format.max_rows),
      language(format.max_rows),
      frame_begins(format.max_rows),
      token_begins(format.max_rows),
      tokens(format.max_tokens),
      audio_len(format.needs_audio() ? format.max_rows : 0),
      reference_len(format.reference_frames > 0 ? format.max_rows : 0) {
  global_utterances.reserve(format.max_global_rows);
  mel =
      memory.mel.empty() ? AlignedBytes(format.payload_bytes()) : AlignedBytes::borrow(memory.mel);
  extra_places = ExtrasBlock::most(format);
  extras = memory.extras.empty() ? AlignedBytes(extra_places.size_bytes)
                                 : AlignedBytes::borrow(memory.extras);
  array_len.assign(format.arrays.size(), std::vector<std::int32_t>(format.max_rows));
  if (format.payload != SlotPayload::kPaddedMel) {
    payload_begins.resize(format.max_rows);
    payload_len.resize(format.max_rows);
    payload_from.resize(format.max_rows);
  }
  if (format.is_augmented) row_keys.resize(format.max_rows);
  if (!format.is_for_device) return;
  block = memory.block.empty() ? AlignedBytes(UploadBlock::most_bytes(format))
                               : AlignedBytes::borrow(memory.block);
}

}  // namespace stoker::feed
