#include "stoker/feed/assembly/extras_block.h"

#include <cstdint>
#include <cstring>

#include "stoker/base/checked.h"
#include "stoker/feed/assembly/batch_slot.h"

namespace stoker::feed {
namespace {

// Where cudaMalloc itself would let a part begin.
constexpr std::size_t kAlignment = 256;

}  // namespace

void ExtrasBlock::lay_out(const BatchFormat& format, const Size& size) {
  std::size_t end = 0;
  const auto add = [&end](std::size_t part_bytes) {
    const std::size_t at = end;
    end = round_up(end + part_bytes, kAlignment);
    return at;
  };
  const std::size_t lengths_bytes = size.num_rows * sizeof(std::int32_t);
  const std::size_t hop_bytes = format.hop_samples * sizeof(float);
  const std::size_t crop_frames = size.num_rows * format.segment_frames;
  audio_len = add(format.needs_audio() ? lengths_bytes : 0);
  reference_len = add(format.reference_frames > 0 ? lengths_bytes : 0);
  array_len.resize(format.arrays.size());
  for (std::size_t& at : array_len) at = add(lengths_bytes);
  reference_mel = add(size.num_rows * format.reference_frames * format.bytes_per_frame());
  mel_segment = add(crop_frames * format.bytes_per_frame());
  wav_segment = add(crop_frames * hop_bytes);
  arrays.resize(format.arrays.size());
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const ArrayKind& kind = format.arrays[i];
    arrays[i] = add(size.num_rows * kind.max_length * kind.bytes_per_step());
  }
  audio = add(format.needs_audio() ? size.num_frames * hop_bytes : 0);
  size_bytes = end;
  delivered_bytes = format.with_audio ? end : audio;
}

ExtrasBlock ExtrasBlock::most(const BatchFormat& format) {
  ExtrasBlock block;
  block.lay_out(format, {format.max_rows, format.max_mel_frames});
  return block;
}

void ExtrasBlock::write_lengths(const BatchSlot& slot) const {
  const auto put = [&slot](std::size_t at, const std::vector<std::int32_t>& lengths) {
    if (lengths.empty()) return;
    std::memcpy(slot.extras.data() + at, lengths.data(), slot.num_rows * sizeof(std::int32_t));
  };
  put(audio_len, slot.audio_len);
  put(reference_len, slot.reference_len);
  for (std::size_t i = 0; i < array_len.size(); ++i) put(array_len[i], slot.array_len[i]);
}

}  // namespace stoker::feed
