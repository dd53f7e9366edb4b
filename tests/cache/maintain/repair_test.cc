// A cache that is damaged, interrupted or hard to read: builds cure what is proved to be bad and
// leave everything else as it is.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <random>
#include <stop_token>

#include "stoker/cache/errors.h"
#include "stoker/cache/maintain/verify.h"
#include "stoker/cache/read/reader.h"
#include "tests/cache/format/shard_fixture.h"
#include "tests/cache/small_world.h"
#include "tests/doubles/fault_io.h"

namespace stoker::cache {
namespace {

namespace fs = std::filesystem;

class RepairTest : public testing::Test {
 protected:
  static constexpr std::size_t kRows = 300;  // two shards of each kind

  void SetUp() override {
    world_.write_sources();
    world_.build(2);
    whole_ = files_of(world_.cache_path());
  }
  VerifyReport verify() {
    return verify_cache(
        open_file(system_io(), world_.cache_path(), OpenFor::kFolder).take_or_raise(),
        world_.target(), {.num_workers = 2});
  }
  std::string path(const std::string& name) const { return world_.cache_path() + "/" + name; }

  TempFolder temp_;
  SmallWorld world_{system_io(), temp_.path(), kRows};
  std::map<std::string, std::string> whole_;
};

// One random damage to one file of the cache; says what it did.
std::string damage(const std::string& folder, std::mt19937& random) {
  std::vector<std::string> names;
  for (const auto& [name, content] : files_of(folder))
    if (name != "lock") names.push_back(name);
  const auto pick = [&](std::size_t bound) { return random() % std::max<std::size_t>(1, bound); };
  const std::string name = names[pick(names.size())];
  const std::string path = folder + "/" + name;
  std::vector<std::byte> bytes = bytes_of_file(path);
  switch (pick(7)) {
    case 0:
    case 1: {
      const std::size_t at = pick(bytes.size());
      bytes[at] ^= static_cast<std::byte>(1U << pick(8));
      write_bytes(path, bytes);
      return name + ": flipped a bit at " + std::to_string(at);
    }
    case 2:
      fs::resize_file(path, pick(bytes.size()));
      return name + ": truncated";
    case 3:
      fs::remove(path);
      return name + ": deleted";
    case 4: {
      const std::string other = folder + "/" + names[pick(names.size())];
      fs::rename(path, folder + "/swap");
      if (fs::exists(other)) fs::rename(other, path);
      fs::rename(folder + "/swap", other);
      return name + ": swapped with " + other;
    }
    case 5: {
      const std::size_t at = pick(bytes.size());
      for (std::size_t i = at; i < std::min(bytes.size(), at + 512); ++i) bytes[i] = std::byte{0};
      write_bytes(path, bytes);
      return name + ": zeroed a block at " + std::to_string(at);
    }
    default:
      fs::remove(path);
      fs::create_directories(path + "/inside");
      return name + ": a folder in its place";
  }
}

TEST_F(RepairTest, ABuildOverRandomDamageGivesTheBytesOfAFreshOne) {
  for (unsigned seed = 0; seed < 120; ++seed) {
    std::mt19937 random(seed);
    std::string done;
    for (unsigned i = 0; i <= seed % 3; ++i) done += damage(world_.cache_path(), random) + "; ";
    world_.build(2, {.check_bytes = true});
    EXPECT_TRUE(verify().is_good()) << "seed " << seed << ": " << done;
    ASSERT_EQ(files_of(world_.cache_path()), whole_) << "seed " << seed << ": " << done;
    for (const auto& entry : fs::directory_iterator(world_.cache_path()))
      if (entry.is_directory()) fs::remove_all(entry.path());
  }
}

TEST_F(RepairTest, AFolderInAShardsPlaceIsSetAsideWithWhatItHolds) {
  fs::remove(path("shard-00000.stk"));
  fs::create_directories(path("shard-00000.stk"));
  std::ofstream(path("shard-00000.stk/notes.txt")) << "somebody's";
  EXPECT_EQ(verify().corrupt, 256U);
  world_.build();
  EXPECT_TRUE(verify().is_good());
  EXPECT_TRUE(fs::exists(path("shard-00000.stk.aside/notes.txt")));
}

// Asks to stop after so many rows.
class StopAfter final : public Progress {
 public:
  explicit StopAfter(std::uint64_t num_rows) : left_(num_rows) {}
  void set_total(std::uint64_t) override {
    if (left_ == 0) source.request_stop();
  }
  void advance(std::uint64_t num_rows) override {
    left_ -= std::min<std::uint64_t>(left_, num_rows);
    if (left_ == 0) source.request_stop();
  }
  void reject(std::uint64_t) override {}
  std::stop_source source;

 private:
  std::atomic<std::uint64_t> left_;
};

TEST_F(RepairTest, AStoppedBuildTakesNoGoodRecordAway) {
  std::ofstream(world_.source_path(3)) << "another sound";
  for (const std::uint64_t num_rows : {0U, 1U, 100U}) {
    StopAfter stop(num_rows);
    world_.build(1, {.stop = stop.source.get_token(), .progress = &stop});
    const VerifyReport report = verify();
    EXPECT_EQ(report.missing, 0U) << num_rows;
    EXPECT_EQ(report.stale, 1U) << num_rows;
    EXPECT_EQ(report.ok_entries, 2 * kRows - 1) << num_rows;
  }
  world_.build();
  EXPECT_TRUE(verify().is_good());
}

TEST_F(RepairTest, ReadersOpenWhateverAStoppedBuildOfMovedRowsLeft) {
  for (std::uint64_t num_rows = 0; num_rows < 700; num_rows += 90) {
    fs::remove_all(world_.cache_path());
    world_.rows = SmallRows::make(kRows);
    world_.build(2);
    world_.rows.ids.erase(world_.rows.ids.begin(), world_.rows.ids.begin() + 60);
    StopAfter stop(num_rows);
    world_.build(1, {.stop = stop.source.get_token(), .progress = &stop});
    EXPECT_TRUE(Reader::open(system_io(), world_.cache_path()).ok()) << num_rows;
    EXPECT_EQ(verify().corrupt, 0U) << num_rows;
    world_.build();
    EXPECT_TRUE(verify().is_good()) << num_rows;
  }
}

TEST(LargeRepairTest, AStoppedRebuildOfALargeCacheTakesNoRecordAway) {
  constexpr std::size_t kManyRows = 34 * kRecordsPerShard;  // more shards than are withdrawn singly
  TempFolder temp;
  SmallWorld world(system_io(), temp.path(), 0);
  for (std::size_t i = 0; i < kManyRows; ++i) {
    world.rows.ids.push_back(fmt::format("u{:05}", i));
    world.rows.texts[world.rows.ids.back()] = "text";
  }
  world.write_sources();
  world.build(2);
  world.token_setting = "other";
  StopAfter stop(5 * kRecordsPerShard + 3);
  world.build(1, {.stop = stop.source.get_token(), .progress = &stop});
  const File folder = open_file(system_io(), world.cache_path(), OpenFor::kFolder).take_or_raise();
  const VerifyReport report = verify_cache(folder, world.target(), {.num_workers = 2});
  EXPECT_EQ(report.missing, 0U);
  EXPECT_EQ(report.stale, kManyRows - 5 * kRecordsPerShard);
  EXPECT_EQ(report.ok_entries, kManyRows + 5 * kRecordsPerShard);
}

TEST_F(RepairTest, ASourceThatCannotBeReadNowKeepsItsRecord) {
  const std::string before = files_of(world_.cache_path()).at("shard-00000.stk");
  FaultIo io;
  SmallWorld failing(io, temp_.path(), kRows);
  const File folder = open_file(io, world_.cache_path(), OpenFor::kFolder).take_or_raise();
  Inspection found = inspect_cache(folder, failing.target().makers);
  ASSERT_TRUE(found.shards[0].is_complete);
  const BuildTarget target = failing.target();
  fs::remove(path("sources.bin"));  // every source is read again
  io.plan({.at_call = 40, .calls = {IoCall::kRead}, .error_number = EIO});
  found = inspect_cache(folder, target.makers);
  ASSERT_EQ(io.num_fired(), 1U);
  ASSERT_EQ(found.shards[0].row_faults.size(), 1U);
  EXPECT_TRUE(found.shards[0].is_complete);
  io.clear_faults();
  io.plan({.at_call = 40, .calls = {IoCall::kRead}, .error_number = EIO});
  const BuildReport report = failing.build(1, {.rebuild = {0U}});
  EXPECT_TRUE(report.rejects.empty());
  EXPECT_EQ(files_of(world_.cache_path()).at("shard-00000.stk"), before);
}

TEST_F(RepairTest, RowsThatAreNoLongerInTheDataSetAreStaleAndNamed) {
  world_.rows.ids.erase(world_.rows.ids.begin() + 7);
  VerifyReport report = verify();
  EXPECT_FALSE(report.is_good());
  bool named = false;
  for (const Error& fault : report.faults)
    named = named || (fault.code == &kRowGone && fault.promised.find("u007") != std::string::npos);
  EXPECT_TRUE(named);
  EXPECT_GE(report.stale, 2U);
  fix_cache(open_file(system_io(), world_.cache_path(), OpenFor::kFolder).take_or_raise(),
            world_.target(), {}, report);
  EXPECT_TRUE(verify().is_good());
}

TEST_F(RepairTest, AnInspectionOfAnOpenReaderIsOfItsGeneration) {
  const Reader reader = Reader::open(system_io(), world_.cache_path()).take_or_raise();
  world_.rows.texts["u003"] = "another transcript";
  world_.build();
  const File folder = open_file(system_io(), world_.cache_path(), OpenFor::kFolder).take_or_raise();
  const BuildTarget target = world_.target();
  const Inspection found = inspect_generation(folder, reader.generation(), target.makers);
  std::size_t num_stale = 0;
  for (const ShardState& state : found.shards)
    for (std::size_t i = 0; i < state.rows.size(); ++i) {
      if (state.rows[i] == RowState::kFresh) continue;
      ++num_stale;
      EXPECT_EQ(state.plan.maker->id(state.plan.first_row + i), "u003");
    }
  EXPECT_EQ(num_stale, 1U) << "the old tokens would be delivered for the new transcript";
  EXPECT_TRUE(verify().is_good());
}

}  // namespace
}  // namespace stoker::cache
