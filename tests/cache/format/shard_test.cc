#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "stoker/base/bytes.h"
#include "stoker/base/digest/crc32c.h"
#include "stoker/cache/errors.h"
#include "stoker/cache/format/shard_view.h"
#include "stoker/cache/read/damage.h"
#include "tests/cache/format/shard_fixture.h"

namespace stoker::cache {
namespace {

class ShardTest : public testing::Test {
 protected:
  void SetUp() override {
    write_small_shard(path_, 3, 4);
    bytes_ = bytes_of_file(path_);
  }
  TempFolder folder_;
  std::string path_ = folder_.file("shard-00003.stk");
  std::vector<std::byte> bytes_;
};

// Signs the 60 bytes before it, as a writer of another version would.
void reseal(std::span<std::byte, 64> part) { store_le(part.data() + 60, crc32c(part.first(60))); }

TEST_F(ShardTest, WhatWasWrittenIsReadBack) {
  Result<ShardView> view = ShardView::open_whole(path_, bytes_);
  ASSERT_TRUE(view.ok()) << error_line(view.error());
  ASSERT_EQ(view->size(), 4U);
  EXPECT_EQ((*view)[2].id, "r02");
  EXPECT_EQ((*view)[2].at.shape.axes[0], 3U);
  EXPECT_EQ(view->find("r03"), 3U);
  EXPECT_EQ(view->find("r04"), std::nullopt);
  EXPECT_EQ((*view)[1].at.at_bytes % 64, 0U);
  const RecordEntry entry = (*view)[1];
  Result<RecordHeader> header = view->check_record(
      1, std::span(bytes_).subspan(entry.at.at_bytes, entry.end_bytes() - entry.at.at_bytes));
  ASSERT_TRUE(header.ok()) << error_line(header.error());
  EXPECT_EQ(header->source, digest_of(std::string_view("r01's file")));
}

TEST_F(ShardTest, EverySingleFlippedByteIsFoundAndItsRecordNamed) {
  Result<ShardView> whole = ShardView::open_whole(path_, bytes_);
  ASSERT_TRUE(whole.ok());
  for (std::size_t at = 0; at < bytes_.size(); ++at) {
    std::vector<std::byte> damaged = bytes_;
    damaged[at] ^= std::byte{0x10};
    const std::vector<Error> faults = check_shard_bytes(path_, damaged);
    ASSERT_EQ(faults.size(), 1U) << "byte " << at;
    EXPECT_EQ(faults[0].place.file, path_);
    for (std::size_t i = 0; i < whole->size(); ++i) {
      const RecordEntry entry = (*whole)[i];
      if (at < entry.at.at_bytes || at >= entry.end_bytes()) continue;
      EXPECT_EQ(faults[0].place.byte, entry.at.at_bytes) << "byte " << at;
      EXPECT_NE(faults[0].promised.find(std::string(entry.id)), std::string::npos) << at;
    }
  }
}

TEST_F(ShardTest, EveryLengthButTheRightOneIsRefused) {
  for (std::size_t size = 0; size < bytes_.size(); ++size)
    ASSERT_FALSE(check_shard_bytes(path_, std::span(bytes_).first(size)).empty()) << size;
  std::vector<std::byte> longer = bytes_;
  longer.resize(bytes_.size() + 64);
  EXPECT_EQ(check_shard_bytes(path_, longer).size(), 1U);
}

TEST_F(ShardTest, SwappedAndMisdirectedRecordsAreFound) {
  const Result<ShardView> view = ShardView::open_whole(path_, bytes_);
  const std::size_t a = (*view)[0].at.at_bytes;
  const std::size_t b = (*view)[1].at.at_bytes;
  std::vector<std::byte> swapped = bytes_;
  std::swap_ranges(swapped.begin() + static_cast<std::ptrdiff_t>(a),
                   swapped.begin() + static_cast<std::ptrdiff_t>(a + 192),
                   swapped.begin() + static_cast<std::ptrdiff_t>(b));
  EXPECT_GE(check_shard_bytes(path_, swapped).size(), 2U);
}

TEST_F(ShardTest, APayloadFromAnotherShardFailsItsCrc) {
  const std::string other_path = folder_.file("shard-00004.stk");
  write_small_shard(other_path, 4, 4);
  std::vector<std::byte> other = bytes_of_file(other_path);
  ASSERT_EQ(other.size(), bytes_.size());
  // Same bytes, same place, other shard: only the seeded CRC can tell.
  std::copy(other.begin() + 64, other.begin() + 64 + 192, bytes_.begin() + 64);
  EXPECT_EQ(check_shard_bytes(path_, bytes_).size(), 1U);
}

TEST_F(ShardTest, AZeroedPageIsFound) {
  std::vector<std::byte> zeroed = bytes_;
  std::fill(zeroed.begin() + 64, zeroed.begin() + 256, std::byte{0});
  EXPECT_EQ(check_shard_bytes(path_, zeroed).size(), 1U);
}

TEST_F(ShardTest, AnotherFormatVersionIsNamedNotMisread) {
  store_le<std::uint32_t>(bytes_.data() + 8, 2);
  reseal(std::span(bytes_).first<64>());
  Result<ShardView> view = ShardView::open_whole(path_, bytes_);
  ASSERT_FALSE(view.ok());
  EXPECT_EQ(view.error().code->name, "E-CACHE-VERSION");
  EXPECT_EQ(view.error().found, "version 2");
}

TEST_F(ShardTest, HostileOffsetsUnderRightChecksumsAreRefused) {
  Footer footer;
  ASSERT_FALSE(decode(std::span<const std::byte>(bytes_).last<kFooterBytes>(), footer));
  for (const std::uint64_t index_at : {std::uint64_t{0}, std::uint64_t{63}, ~std::uint64_t{0},
                                       ~std::uint64_t{63}, std::uint64_t{1} << 40U}) {
    Footer hostile = footer;
    hostile.index_at_bytes = index_at;
    hostile.index_bytes = bytes_.size() - kFooterBytes - index_at;
    encode(hostile, std::span(bytes_).last<kFooterBytes>());
    EXPECT_FALSE(ShardView::open_whole(path_, bytes_).ok()) << index_at;
  }
}

TEST(ShardNameTest, NumbersAndNamesAreOneToOne) {
  EXPECT_EQ(shard_file_name(16), "shard-00016.stk");
  EXPECT_EQ(shard_number_of("shard-123456.stk"), 123456U);
  for (const char* bad : {"shard-0016.stk", "shard-000016.stk", "shard-00016.stk.tmp.1", "x"})
    EXPECT_EQ(shard_number_of(bad), std::nullopt) << bad;
}

TEST(ArrayShapeTest, OverflowAndStrayAxesHaveNoSize) {
  EXPECT_EQ((ArrayShape{ElementType::kF16, 2, {3, 4}}.payload_bytes()), 24U);
  EXPECT_EQ((ArrayShape{ElementType::kF64, 3, {~0U, ~0U, ~0U}}.payload_bytes()), std::nullopt);
  EXPECT_EQ((ArrayShape{ElementType::kF64, 1, {3, 4}}.payload_bytes()), std::nullopt);
  EXPECT_EQ((ArrayShape{ElementType::kF64, 7, {3}}.payload_bytes()), std::nullopt);
}

}  // namespace
}  // namespace stoker::cache
