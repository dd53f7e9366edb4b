#include "stoker/cache/build/build.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "stoker/cache/errors.h"
#include "stoker/cache/read/reader.h"
#include "tests/cache/small_world.h"
#include "tests/doubles/fault_io.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker::cache {
namespace {

constexpr std::size_t kManyRows = 600;  // three shards of each kind

class BuildTest : public testing::Test {
 protected:
  SmallWorld world(std::size_t num_rows) {
    SmallWorld made(io_, scratch_.path(), num_rows);
    made.write_sources();
    return made;
  }
  ScratchFolder scratch_;
  FaultIo io_;
};

TEST_F(BuildTest, OneAndSixteenWorkersGiveTheSameBytes) {
  SmallWorld small = world(kManyRows);
  const BuildReport first = small.build(1);
  EXPECT_EQ(first.rows_built, kManyRows);
  EXPECT_EQ(first.kinds.at("tokens").built, kManyRows);
  const auto expected = files_of(small.cache_path());
  EXPECT_TRUE(expected.contains("shard-00033.stk"));
  std::filesystem::remove_all(small.cache_path());
  small.build(16);
  EXPECT_EQ(files_of(small.cache_path()), expected);
}

TEST_F(BuildTest, ASecondBuildWritesNothing) {
  SmallWorld small = world(20);
  small.build();
  const std::uint64_t renames = io_.num_calls(IoCall::kRename);
  const BuildReport again = small.build(4);
  EXPECT_EQ(again.rows_built, 0U);
  EXPECT_EQ(again.rows_reused, 20U);
  EXPECT_EQ(again.shards_written, 0U);
  EXPECT_EQ(io_.num_calls(IoCall::kRename), renames);
}

TEST_F(BuildTest, AChangedSourceRewritesOnlyItsShardAndMakesOnlyItsRecord) {
  SmallWorld small = world(kManyRows);
  small.build();
  std::ofstream(small.source_path(300)) << "something else";
  const BuildReport again = small.build();
  EXPECT_EQ(again.rows_built, 1U);
  EXPECT_EQ(again.shards_written, 1U);
  const auto completed = files_of(small.cache_path());
  std::filesystem::remove_all(small.cache_path());
  small.build(3);
  EXPECT_EQ(files_of(small.cache_path()), completed);
}

TEST_F(BuildTest, ATouchedSourceIsReadAgainAndNotMadeAgain) {
  SmallWorld small = world(20);
  small.build();
  std::filesystem::last_write_time(
      small.source_path(3),
      std::filesystem::file_time_type::clock::now() + std::chrono::hours(24 * 365 * 10));
  EXPECT_EQ(small.build().rows_built, 0U);
}

TEST_F(BuildTest, ARowThatComesOrGoesTakesNoOtherRecordWithIt) {
  SmallWorld small = world(kManyRows);
  small.build();
  small.rows.ids.erase(small.rows.ids.begin() + 10);
  const BuildReport again = small.build();
  EXPECT_EQ(again.rows_built, 0U);
  EXPECT_EQ(again.rows_reused, kManyRows - 1);
  const auto completed = files_of(small.cache_path());
  std::filesystem::remove_all(small.cache_path());
  small.build();
  EXPECT_EQ(files_of(small.cache_path()), completed);
}

TEST_F(BuildTest, ABadRowIsLeftOutNamedAndNotTriedAgain) {
  SmallWorld small = world(20);
  std::ofstream(small.source_path(7)) << "bad bytes";
  const BuildReport first = small.build();
  ASSERT_EQ(first.rejects.size(), 1U);
  EXPECT_EQ(first.rejects[0].id, "u007");
  EXPECT_EQ(first.num_rejected_rows, 1U);
  const BuildReport again = small.build();
  EXPECT_EQ(again.shards_written, 0U);
  EXPECT_EQ(again.num_rejected_rows, 1U);
  std::ofstream(small.source_path(7)) << "good bytes";
  EXPECT_EQ(small.build().rows_built, 1U);
}

TEST_F(BuildTest, MoreBadRowsThanTheBoundEndTheBuild) {
  SmallWorld small = world(20);
  for (const std::size_t row : {3U, 4U, 5U}) std::ofstream(small.source_path(row)) << "bad";
  std::vector<std::string> seen;
  BuildOptions options;
  options.max_rejects = 2;
  options.on_reject = [&](const BuildReject& reject) { seen.push_back(reject.id); };
  try {
    small.build(1, options);
    FAIL() << "three bad rows passed a bound of two";
  } catch (const DataError& error) {
    EXPECT_EQ(error.error().code->name, "E-CACHE-BADROWS");
  }
  EXPECT_EQ(seen.size(), 3U);
}

TEST_F(BuildTest, SettingsOfOneKindLeaveTheOtherAlone) {
  SmallWorld small = world(20);
  small.build();
  small.token_setting = "other cleaner";
  const BuildReport again = small.build();
  EXPECT_EQ(again.kinds.at("mel").built, 0U);
  EXPECT_EQ(again.kinds.at("tokens").built, 20U);
  small.mel_setting = "other hop";
  const BuildReport third = small.build();
  EXPECT_EQ(third.kinds.at("mel").built, 20U);
  EXPECT_EQ(third.kinds.at("tokens").built, 0U);
}

TEST_F(BuildTest, AStopCommitsWhatIsWholeAndTheNextBuildGoesOn) {
  SmallWorld small = world(kManyRows);
  std::stop_source stop;
  stop.request_stop();
  BuildOptions options;
  options.stop = stop.get_token();
  EXPECT_TRUE(small.build(2, options).stopped);
  EXPECT_FALSE(small.build(2).stopped);
}

TEST_F(BuildTest, ADamagedManifestIsWrittenAnewFromWholeShards) {
  SmallWorld small = world(20);
  small.build();
  const auto expected = files_of(small.cache_path());
  std::ofstream(small.cache_path() + "/manifest.json") << "{}";
  const BuildReport again = small.build();
  EXPECT_EQ(again.shards_written, 0U);
  EXPECT_EQ(files_of(small.cache_path()), expected);
}

TEST_F(BuildTest, AShardThatNoManifestNamesIsAdoptedOnlyWhenWhole) {
  SmallWorld small = world(20);
  small.build();
  const auto expected = files_of(small.cache_path());
  std::filesystem::remove(small.cache_path() + "/manifest.json");
  std::fstream shard(small.cache_path() + "/shard-00000.stk",
                     std::ios::in | std::ios::out | std::ios::binary);
  shard.seekp(300);
  shard.put('\x55');
  shard.close();
  const BuildReport again = small.build();
  EXPECT_EQ(again.shards_written, 1U);
  EXPECT_EQ(files_of(small.cache_path()), expected);
}

TEST_F(BuildTest, LeftoversAndForeignShardsAreRemoved) {
  SmallWorld small = world(20);
  small.build();
  const auto expected = files_of(small.cache_path());
  std::ofstream(small.cache_path() + "/shard-00000.stk.tmp.0123456789abcdef") << "litter";
  std::ofstream(small.cache_path() + "/shard-00160.stk") << "of a larger data set";
  small.build();
  EXPECT_EQ(files_of(small.cache_path()), expected);
}

TEST_F(BuildTest, AFullDiskNamesWhatIsNeededAndFreeAndTheNextBuildCompletes) {
  SmallWorld small = world(20);
  io_.plan({.kind = Fault::Kind::kError,
            .at_call = 1,
            .calls = {IoCall::kAllocate},
            .repeat = Fault::Repeat::kFromThenOn,
            .error_number = ENOSPC});
  try {
    small.build();
    FAIL() << "a full disk was not noticed";
  } catch (const StorageError& error) {
    EXPECT_NE(error.error().promised.find("of free space"), std::string::npos);
    EXPECT_NE(error.error().found.find(" (cannot "), std::string::npos) << error.error().found;
  }
  io_.clear_faults();
  EXPECT_EQ(small.build().rows_built, 20U);
}

TEST_F(BuildTest, ASourceThatChangesWhileItIsReadIsReported) {
  SmallWorld small = world(20);
  BuildOptions options;
  // The reject of a later row is the moment at which an earlier source is replaced.
  std::ofstream(small.source_path(19)) << "bad";
  options.on_reject = [&](const BuildReject&) { std::ofstream(small.source_path(2)) << "changed"; };
  try {
    small.build(1, options);
    FAIL() << "the change was not noticed";
  } catch (const DataError& error) {
    EXPECT_EQ(error.error().code->name, "E-CACHE-CHANGED");
    EXPECT_EQ(error.error().place.file, "u002");
  }
  EXPECT_EQ(small.build().rows_built, 1U);
}

const Error* failure_of(SmallWorld& small, std::optional<Failure>& kept) {
  try {
    small.build();
    return nullptr;
  } catch (const Failure& failure) {
    return &kept.emplace(failure).error();
  }
}

TEST_F(BuildTest, WithoutRoomOnTheDiskNothingIsBegun) {
  SmallWorld small = world(20);
  io_.set_free_space(1000);
  std::optional<Failure> kept;
  const Error* error = failure_of(small, kept);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->code, &kCacheSpace);
  EXPECT_EQ(error->found, "1000 bytes");
  EXPECT_NE(error->promised.find("of free space for 2 shards"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(small.cache_path() + "/manifest.json"));
}

TEST_F(BuildTest, AShardThatTheDiskChangedIsNotPublished) {
  SmallWorld small = world(20);
  io_.plan({.kind = Fault::Kind::kFlip,
            .calls = {IoCall::kWrite},
            .repeat = Fault::Repeat::kFromThenOn});
  std::optional<Failure> kept;
  const Error* error = failure_of(small, kept);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->code, &kBuildVerify) << error_line(*error);
  EXPECT_FALSE(std::filesystem::exists(small.cache_path() + "/shard-00000.stk"));
}

}  // namespace
}  // namespace stoker::cache
