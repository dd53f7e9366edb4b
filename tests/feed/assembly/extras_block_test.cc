#include "stoker/feed/assembly/extras_block.h"

#include <gtest/gtest.h>

#include <vector>

#include "stoker/feed/assembly/batch_slot.h"

namespace stoker::feed {
namespace {

BatchFormat make_format() {
  BatchFormat format;
  format.num_mels = 80;
  format.hop_samples = 256;
  format.max_rows = 7;
  format.max_mel_frames = 900;
  format.with_audio = true;
  format.reference_frames = 50;
  format.segment_frames = 32;
  format.arrays = {{"f0", cache::ElementType::kF32, 100, 1}, {"v", cache::ElementType::kU8, 3, 5}};
  return format;
}

// Parts in the order of the block, with what each takes.
void expect_apart(const ExtrasBlock& block, const BatchFormat& format, std::size_t rows,
                  std::size_t frames) {
  const std::size_t frame_bytes = format.bytes_per_frame();
  const std::vector<std::pair<std::size_t, std::size_t>> parts{
      {block.audio_len, rows * 4},
      {block.reference_len, rows * 4},
      {block.array_len[0], rows * 4},
      {block.array_len[1], rows * 4},
      {block.reference_mel, rows * 50 * frame_bytes},
      {block.mel_segment, rows * 32 * frame_bytes},
      {block.wav_segment, rows * 32 * 256 * 4},
      {block.arrays[0], rows * 100 * 4},
      {block.arrays[1], rows * 15},
      {block.audio, frames * 256 * 4}};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(parts[i].first % 256, 0U);
    const std::size_t next = i + 1 < parts.size() ? parts[i + 1].first : block.size_bytes;
    EXPECT_GE(next, parts[i].first + parts[i].second);
    EXPECT_LT(next, parts[i].first + parts[i].second + 256);
  }
}

TEST(ExtrasBlockTest, PartsAreApartAlignedAndAsLargeAsTheBatch) {
  const BatchFormat format = make_format();
  ExtrasBlock block;
  block.lay_out(format, {3, 400});
  expect_apart(block, format, 3, 400);
  EXPECT_EQ(block.delivered_bytes, block.size_bytes);
  expect_apart(ExtrasBlock::most(format), format, 7, 900);
}

TEST(ExtrasBlockTest, AWaveformThatOnlySegmentsNeedIsNotDelivered) {
  BatchFormat format = make_format();
  format.with_audio = false;
  const ExtrasBlock block = ExtrasBlock::most(format);
  EXPECT_EQ(block.delivered_bytes, block.audio);
  EXPECT_EQ(block.size_bytes, block.audio + 900 * 256 * 4);
}

TEST(ExtrasBlockTest, NothingAskedForTakesNothing) {
  BatchFormat format;
  format.max_rows = 7;
  format.max_mel_frames = 900;
  const ExtrasBlock block = ExtrasBlock::most(format);
  EXPECT_EQ(block.size_bytes, 0U);
  EXPECT_EQ(block.delivered_bytes, 0U);
}

}  // namespace
}  // namespace stoker::feed
