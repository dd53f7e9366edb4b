#include "stoker/cache/read/reader.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "stoker/audio/float16.h"
#include "stoker/cache/read/shard_file.h"
#include "tests/cache/format/shard_fixture.h"
#include "tests/cache/small_world.h"
#include "tests/doubles/fault_io.h"

namespace stoker::cache {
namespace {

class ReaderTest : public testing::TestWithParam<ReadMode> {
 protected:
  void SetUp() override {
    world_.write_sources();
    world_.build(2);
  }
  Reader open(Verification verification = Verification::kFirstTouch) {
    return Reader::open(system_io(), world_.cache_path(),
                        {.mode = GetParam(), .verification = verification})
        .take_or_raise();
  }
  std::string shard(int number) { return world_.cache_path() + "/" + shard_file_name(number); }

  TempFolder folder_;
  SmallWorld world_{system_io(), folder_.path(), 300};
  ReadScratch scratch_;
};

TEST_P(ReaderTest, FindsEveryRecordByIdAndByPlace) {
  const Reader reader = open();
  ASSERT_EQ(reader.num_records(RecordKind::kMel), 300U);
  ASSERT_EQ(reader.num_records(RecordKind::kTokens), 300U);
  EXPECT_EQ(reader.num_records(RecordKind::kPcm), 0U);
  for (std::size_t i = 0; i < 300; ++i) {
    const RecordRef at = reader.record(RecordKind::kMel, i);
    EXPECT_EQ(reader.info(at).id, world_.rows.ids[i]);
    const auto found = reader.find(RecordKind::kMel, world_.rows.ids[i]);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->shard_index, at.shard_index);
    EXPECT_EQ(found->record_index, at.record_index);
  }
  for (const char* id : {"", "a", "u0005", "u299x", "z"})
    EXPECT_EQ(reader.find(RecordKind::kMel, id), std::nullopt) << id;
}

TEST_P(ReaderTest, InPlaceGivesTheCheckedBytesOfAMapping) {
  const Reader reader = open(Verification::kEveryTime);
  const RecordRef ref = reader.record(RecordKind::kMel, 7);
  std::vector<std::byte> bytes(reader.info(ref).shape.payload_bytes().value());
  ASSERT_TRUE(reader.read_into(ref, bytes, scratch_).ok());
  const std::span<const std::byte> found = reader.check_in_place(ref, scratch_).take_or_raise();
  if (GetParam() == ReadMode::kPread) {
    EXPECT_TRUE(found.empty());
  } else {
    EXPECT_TRUE(std::equal(found.begin(), found.end(), bytes.begin(), bytes.end()));
  }
}

TEST_P(ReaderTest, FillsAPaddedRowInTheBatchType) {
  const Reader reader = open();
  const RecordRef ref = reader.record(RecordKind::kMel, 7);
  const ArrayShape shape = reader.info(ref).shape;
  const std::size_t num_values = shape.axes[0] * shape.axes[1];
  std::vector<std::uint16_t> halves(num_values + 6);
  ASSERT_TRUE(
      reader.read_mel_into(ref, {halves.data(), ElementType::kF16, halves.size(), -11.5F}, scratch_)
          .ok());
  std::vector<float> floats(num_values + 6);
  ASSERT_TRUE(
      reader.read_mel_into(ref, {floats.data(), ElementType::kF32, floats.size(), -11.5F}, scratch_)
          .ok());
  for (std::size_t i = 0; i < halves.size(); ++i) EXPECT_EQ(floats[i], audio::f16_value(halves[i]));
  EXPECT_EQ(floats.back(), -11.5F);
}

TEST_P(ReaderTest, GivesTokensAsTheyWere) {
  const Reader reader = open();
  std::vector<std::int32_t> row(16, -1);
  ASSERT_TRUE(reader.read_tokens_into(reader.record(RecordKind::kTokens, 12), row, scratch_).ok());
  EXPECT_EQ(std::string(row.begin(), row.begin() + 7), "text 12");
  EXPECT_EQ(row[7], -1);
}

TEST_P(ReaderTest, ADamagedRecordIsNamedAndTheOthersAreRead) {
  Result<ShardFile> file =
      ShardFile::open(open_file(system_io(), world_.cache_path(), OpenFor::kFolder).value(),
                      "shard-00000.stk", ReadMode::kPread);
  const std::uint64_t at = file->view()[5].at.at_bytes;
  std::vector<std::byte> bytes = bytes_of_file(shard(0));
  bytes[at + kRecordHeaderBytes + 3] ^= std::byte{1};
  write_bytes(shard(0), bytes);
  for (const Verification verification : {Verification::kEveryTime, Verification::kFirstTouch}) {
    const Reader reader = open(verification);
    std::vector<float> row(200);
    const RowTarget target{row.data(), ElementType::kF32, row.size(), 0.0F};
    const Result<void> bad =
        reader.read_mel_into(reader.record(RecordKind::kMel, 5), target, scratch_);
    ASSERT_FALSE(bad.ok());
    EXPECT_EQ(bad.error().code->name, "E-CACHE-CORRUPT");
    EXPECT_EQ(bad.error().place.byte, at);
    EXPECT_NE(bad.error().promised.find("u005"), std::string::npos);
    EXPECT_TRUE(reader.read_mel_into(reader.record(RecordKind::kMel, 6), target, scratch_).ok());
  }
}

TEST_P(ReaderTest, AFileCutShortWhileOpenIsAnErrorNotASignal) {
  const Reader reader = open(Verification::kEveryTime);
  std::filesystem::resize_file(shard(0), 4096);
  std::vector<float> row(200);
  const RowTarget target{row.data(), ElementType::kF32, row.size(), 0.0F};
  const Result<void> late =
      reader.read_mel_into(reader.record(RecordKind::kMel, 250), target, scratch_);
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code->name, "E-CACHE-TRUNCATED");
  EXPECT_TRUE(reader.read_mel_into(reader.record(RecordKind::kMel, 0), target, scratch_).ok());
}

TEST_P(ReaderTest, AFolderThatIsDeletedMeanwhileStaysReadable) {
  const Reader reader = open();
  std::filesystem::remove_all(world_.cache_path());
  std::vector<float> row(200);
  const RowTarget target{row.data(), ElementType::kF32, row.size(), 0.0F};
  EXPECT_TRUE(reader.read_mel_into(reader.record(RecordKind::kMel, 9), target, scratch_).ok());
  EXPECT_EQ(Reader::open(system_io(), world_.cache_path()).error().code->name, "E-CACHE-NONE");
}

TEST_P(ReaderTest, TruncatedExtendedAndExchangedShardsAreRefused) {
  const std::vector<std::byte> good = bytes_of_file(shard(0));
  std::vector<std::byte> longer = good;
  longer.resize(good.size() + 64);
  write_bytes(shard(0), longer);
  EXPECT_FALSE(Reader::open(system_io(), world_.cache_path(), {.mode = GetParam()}).ok());
  write_bytes(shard(0), std::span(good).first(good.size() - 64));
  EXPECT_FALSE(Reader::open(system_io(), world_.cache_path(), {.mode = GetParam()}).ok());
  write_bytes(shard(0), bytes_of_file(shard(16)));
  const Result<Reader> exchanged =
      Reader::open(system_io(), world_.cache_path(), {.mode = GetParam()});
  ASSERT_FALSE(exchanged.ok());
  EXPECT_EQ(exchanged.error().code->name, "E-CACHE-FOREIGN");
}

TEST_P(ReaderTest, ReadersBesideABuilderSeeWholeGenerations) {
  std::atomic<bool> done{false};
  std::atomic<int> num_opened{0};
  std::thread reading([&] {
    ReadScratch scratch;
    while (!done || num_opened == 0) {
      Result<Reader> reader = Reader::open(system_io(), world_.cache_path(), {.mode = GetParam()});
      ASSERT_TRUE(reader.ok()) << error_line(reader.error());
      for (std::size_t i = 0; i < reader->num_records(RecordKind::kMel); ++i)
        ASSERT_TRUE(reader->check(reader->record(RecordKind::kMel, i), scratch).ok());
      ++num_opened;
    }
  });
  for (int round = 0; round < 10; ++round) {
    std::ofstream(world_.source_path(static_cast<std::size_t>(round * 29))) << "new " << round;
    world_.mel_setting = round % 3 == 0 ? "b" : "a";
    world_.build(2);
  }
  done = true;
  reading.join();
  EXPECT_GT(num_opened, 0);
}

INSTANTIATE_TEST_SUITE_P(Modes, ReaderTest, testing::Values(ReadMode::kMap, ReadMode::kPread),
                         [](const testing::TestParamInfo<ReadMode>& row) {
                           return row.param == ReadMode::kMap ? "Map" : "Pread";
                         });

TEST(ReaderLimitTest, TooManyOpenFilesEndWithTheLimitNamed) {
  const TempFolder folder;
  SmallWorld world(system_io(), folder.path(), 20);
  world.write_sources();
  world.build();
  FaultIo io;
  io.plan({.calls = {IoCall::kOpen}, .repeat = Fault::Repeat::kFromThenOn, .error_number = EMFILE});
  const Result<Reader> reader = Reader::open(io, world.cache_path());
  ASSERT_FALSE(reader.ok());
  EXPECT_EQ(reader.error().code->exit, ExitCode::kMemory);
}

}  // namespace
}  // namespace stoker::cache
