#include "stoker/feed/assembly/upload_block.h"

#include <algorithm>
#include <cstring>

#include "stoker/base/checked.h"

namespace stoker::feed {
namespace {

constexpr std::size_t kAlignment = 16;

// Lays arrays one after the other.
class Layout {
 public:
  std::size_t add(std::size_t count, std::size_t value_bytes) {
    const std::size_t at = end_;
    end_ = round_up(end_ + count * value_bytes, kAlignment);
    return at;
  }
  std::size_t end() const { return end_; }

 private:
  std::size_t end_ = 0;
};

template <class T>
void put(const BatchSlot& slot, std::size_t at, const std::vector<T>& values, std::size_t count) {
  std::memcpy(slot.block.data() + at, values.data(), count * sizeof(T));
}

}  // namespace

UploadBlock::UploadBlock(const BatchSlot& slot)
    : num_rows(slot.num_rows),
      num_tokens(std::size_t{slot.shape.num_rows} * slot.shape.num_tokens),
      num_segments(num_rows + 1) {
  Layout layout;
  tokens = layout.add(num_tokens, sizeof(std::int32_t));
  for (std::size_t* array : {&text_len, &mel_len, &speaker, &language}) {
    *array = layout.add(num_segments, sizeof(std::int32_t));
  }
  begins = layout.add(num_segments, sizeof(std::int64_t));
  made_begins = layout.add(num_segments, sizeof(std::int64_t));
  for (std::size_t* array : {&lengths, &out_begins, &rooms}) {
    *array = layout.add(num_segments, sizeof(std::int32_t));
  }
  const std::size_t num_keys = slot.row_keys.empty() ? 0 : num_rows;
  row_keys = layout.add(num_keys, sizeof(std::uint64_t));
  changed_begins = layout.add(num_keys, sizeof(std::int64_t));
  size_bytes = layout.end();
  for (std::size_t row = 0; row < num_rows; ++row) {
    made_frames = std::max(made_frames, static_cast<std::size_t>(slot.mel_len[row]));
  }
}

std::size_t UploadBlock::most_bytes(const BatchFormat& format) {
  constexpr std::size_t kNumArrays = 12;
  constexpr std::size_t kNumbersPerRow = kNumArrays + 4;  // four of them are 64 bits wide
  return (format.max_tokens + (format.max_rows + 1) * kNumbersPerRow) * sizeof(std::int32_t) +
         kNumArrays * kAlignment;
}

std::size_t UploadBlock::room_bytes(const BatchFormat& format) {
  constexpr std::size_t kPartAlignment = 256;  // as cudaMalloc has it
  return round_up(most_bytes(format), kPartAlignment);
}

void UploadBlock::write(const BatchSlot& slot, const BatchFormat& format) const {
  put(slot, tokens, slot.tokens, num_tokens);
  put(slot, text_len, slot.text_len, num_rows);
  put(slot, mel_len, slot.mel_len, num_rows);
  put(slot, speaker, slot.speaker, num_rows);
  put(slot, language, slot.language, num_rows);
  if (format.payload == SlotPayload::kPaddedMel) return;
  put(slot, begins, slot.payload_begins, num_rows);
  put(slot, lengths, slot.payload_len, num_rows);
  auto* const out_at = reinterpret_cast<std::int32_t*>(slot.block.data() + out_begins);
  auto* const room_at = reinterpret_cast<std::int32_t*>(slot.block.data() + rooms);
  auto end = static_cast<std::int32_t>(slot.shape.num_rows * slot.shape.num_frames);
  for (std::size_t row = num_rows; row-- > 0;) {
    out_at[row] = static_cast<std::int32_t>(slot.frame_begins[row]);
    room_at[row] = end - out_at[row];
    end = out_at[row];
  }
  // The last segment is padding before the first row; empty in most batches.
  out_at[num_rows] = 0;
  room_at[num_rows] = end;
  reinterpret_cast<std::int32_t*>(slot.block.data() + mel_len)[num_rows] = 0;
  reinterpret_cast<std::int32_t*>(slot.block.data() + lengths)[num_rows] = 0;
  reinterpret_cast<std::int64_t*>(slot.block.data() + begins)[num_rows] = 0;
  auto* const made_at = reinterpret_cast<std::int64_t*>(slot.block.data() + made_begins);
  for (std::size_t row = 0; row < num_segments; ++row) {
    made_at[row] = static_cast<std::int64_t>(row * made_frames);
  }
  if (!slot.row_keys.empty()) write_changed(slot, format);
}

// Room for the most samples that so many frames may have: how many there are is not known here for
// utterances that the GPU has already.
void UploadBlock::write_changed(const BatchSlot& slot, const BatchFormat& format) const {
  put(slot, row_keys, slot.row_keys, num_rows);
  auto* const begin_at = reinterpret_cast<std::int64_t*>(slot.block.data() + changed_begins);
  std::size_t end = 0;
  for (std::size_t row = 0; row < num_rows; ++row) {
    begin_at[row] = static_cast<std::int64_t>(end);
    const auto frames = static_cast<std::size_t>(slot.mel_len[row]);
    if (frames == 0) continue;
    end += round_up(frames * format.hop_samples + format.max_extra_samples, kSampleAlignment);
  }
}

}  // namespace stoker::feed
