#include "stoker/feed/batch_slot.h"

#include <sys/mman.h>

#include <new>

#include "stoker/base/checked.h"

namespace stoker::feed {
namespace {

constexpr std::size_t kHugePageBytes = std::size_t{2} << 20U;
constexpr std::size_t kLineBytes = 64;

struct PartBytes {
  std::size_t mel, audio, reference, wav_segment, mel_segment;
};

PartBytes part_bytes(const BatchFormat& format) {
  const std::size_t hop_bytes = format.hop_samples * sizeof(float);
  const std::size_t crop = format.max_rows * format.segment_frames;
  return {.mel = format.max_mel_frames * format.bytes_per_frame(),
          .audio = format.needs_audio() ? format.max_mel_frames * hop_bytes : 0,
          .reference = format.max_rows * format.reference_frames * format.bytes_per_frame(),
          .wav_segment = crop * hop_bytes,
          .mel_segment = crop * format.bytes_per_frame()};
}

}  // namespace

std::size_t BatchFormat::slot_bytes() const {
  constexpr std::size_t kNumbersPerRow = 10;
  const PartBytes parts = part_bytes(*this);
  std::size_t array_bytes = 0;
  for (const ArrayKind& array : arrays) {
    array_bytes += max_rows * (array.max_length * array.bytes_per_step() + sizeof(std::int32_t));
  }
  return array_bytes + parts.mel + parts.audio + parts.reference + parts.wav_segment +
         parts.mel_segment + max_tokens * sizeof(std::int32_t) +
         max_rows * kNumbersPerRow * sizeof(std::int32_t);
}

AlignedBytes::AlignedBytes(std::size_t size_bytes) : size_bytes_(size_bytes) {
  if (size_bytes == 0) return;
  // Batches are written and read as a whole: large pages save most of the address translation.
  const bool is_large = size_bytes >= kHugePageBytes;
  const std::size_t alignment = is_large ? kHugePageBytes : kLineBytes;
  const std::size_t rounded = round_up(size_bytes, alignment);
  bytes_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, rounded)));
  if (bytes_ == nullptr) throw std::bad_alloc();
  if (is_large) madvise(bytes_.get(), rounded, MADV_HUGEPAGE);
}

BatchSlot::BatchSlot(const BatchFormat& format)
    : rows(format.max_rows),
      text_len(format.max_rows),
      mel_len(format.max_rows),
      speaker(format.max_rows),
      language(format.max_rows),
      frame_begins(format.max_rows),
      token_begins(format.max_rows),
      tokens(format.max_tokens),
      audio_len(format.needs_audio() ? format.max_rows : 0),
      reference_len(format.reference_frames > 0 ? format.max_rows : 0) {
  global_rows.reserve(format.max_global_rows);
  const PartBytes parts = part_bytes(format);
  mel = AlignedBytes(parts.mel);
  audio = AlignedBytes(parts.audio);
  reference_mel = AlignedBytes(parts.reference);
  wav_segment = AlignedBytes(parts.wav_segment);
  mel_segment = AlignedBytes(parts.mel_segment);
  for (const ArrayKind& array : format.arrays) {
    arrays.emplace_back(format.max_rows * array.max_length * array.bytes_per_step());
    array_len.emplace_back(format.max_rows);
  }
}

}  // namespace stoker::feed
