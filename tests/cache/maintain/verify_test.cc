#include "stoker/cache/maintain/verify.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "stoker/cache/build/cache_lock.h"
#include "stoker/cache/maintain/cache_gc.h"
#include "stoker/cache/maintain/explain.h"
#include "tests/cache/format/shard_fixture.h"
#include "tests/cache/small_world.h"

namespace stoker::cache {
namespace {

class VerifyTest : public testing::Test {
 protected:
  void SetUp() override {
    world_.write_sources();
    world_.build();
  }
  File folder() { return open_file(system_io(), world_.cache_path(), OpenFor::kFolder).value(); }
  VerifyReport verify(SourceCheck sources = SourceCheck::kStamps) {
    return verify_cache(folder(), world_.target(), {.sources = sources, .num_workers = 2});
  }
  void flip(const std::string& name, std::size_t at) {
    const std::string path = world_.cache_path() + "/" + name;
    std::vector<std::byte> bytes = bytes_of_file(path);
    bytes.at(at) ^= std::byte{0x04};
    write_bytes(path, bytes);
  }
  EntryReason reason(const std::string& id, const std::string& kind) {
    for (EntryReason& entry : explain_entry(folder(), world_.target(), id))
      if (entry.kind == kind) return entry;
    return {};
  }

  TempFolder temp_;
  SmallWorld world_{system_io(), temp_.path(), 5};
};

TEST_F(VerifyTest, AFreshCacheIsGood) {
  const VerifyReport report = verify(SourceCheck::kContent);
  EXPECT_TRUE(report.is_good());
  EXPECT_EQ(report.checked, 10U);
  EXPECT_EQ(report.ok_entries, 10U);
  EXPECT_TRUE(verify_bytes(folder(), {}).is_good());
}

TEST_F(VerifyTest, EveryFlippedByteOfEveryFileIsFoundAndItsFileNamed) {
  for (const auto& [name, content] : files_of(world_.cache_path())) {
    if (name == "lock") continue;
    for (std::size_t at = 0; at < content.size(); ++at) {
      flip(name, at);
      const VerifyReport report = verify();
      ASSERT_FALSE(report.is_good()) << name << " @" << at;
      ASSERT_FALSE(report.faults.empty()) << name << " @" << at;
      bool named = false;
      for (const Error& fault : report.faults) named = named || fault.place.file.ends_with(name);
      ASSERT_TRUE(named) << name << " @" << at;
      flip(name, at);
    }
  }
  EXPECT_TRUE(verify().is_good());
}

TEST_F(VerifyTest, FixGivesTheBytesOfAFreshBuildAndMakesOnlyWhatWasBad) {
  const auto expected = files_of(world_.cache_path());
  flip("shard-00000.stk", 64 + 128 + 2);
  VerifyReport report = verify();
  EXPECT_EQ(report.corrupt, 1U);
  const CacheLock lock = CacheLock::take(folder(), {}).take_or_raise();
  fix_cache(folder(), world_.target(), {}, report);
  EXPECT_EQ(report.fixed, 1U);
  EXPECT_EQ(report.failed, 0U);
  auto now = files_of(world_.cache_path());
  now["lock"] = "";
  EXPECT_EQ(now, expected);
}

TEST_F(VerifyTest, AMissingShardIsMissingAndFixed) {
  const auto expected = files_of(world_.cache_path());
  std::filesystem::remove(world_.cache_path() + "/shard-00001.stk");
  VerifyReport report = verify();
  EXPECT_EQ(report.missing, 5U);
  EXPECT_EQ(report.ok_entries, 5U);
  const CacheLock lock = CacheLock::take(folder(), {}).take_or_raise();
  fix_cache(folder(), world_.target(), {}, report);
  EXPECT_EQ(report.fixed, 5U);
}

TEST_F(VerifyTest, OnlyTheRightEntriesAreStaleAndExplainSaysWhy) {
  world_.token_setting = "other";
  EXPECT_EQ(verify().stale, 5U);
  EXPECT_EQ(reason("u002", "mel").state, "fresh");
  const EntryReason tokens = reason("u002", "tokens");
  EXPECT_EQ(tokens.state, "stale");
  EXPECT_NE(tokens.reason.find("cleaner was t, now other"), std::string::npos) << tokens.reason;
  world_.token_setting = "t";

  world_.mel_setting = "hop";
  EXPECT_EQ(verify().stale, 5U);
  EXPECT_EQ(reason("u002", "tokens").state, "fresh");
  EXPECT_EQ(reason("u002", "mel").settings.at(0).want, "hop");
  world_.mel_setting = "a";

  world_.rows.texts["u003"] = "another transcript";
  EXPECT_EQ(verify().stale, 1U);
  EXPECT_EQ(reason("u003", "tokens").reason, "the transcript changed");
  EXPECT_EQ(reason("u002", "tokens").state, "fresh");
  world_.rows.texts["u003"] = "text 3";

  std::ofstream(world_.source_path(1)) << "another source";
  EXPECT_EQ(verify().stale, 1U);
  EXPECT_EQ(reason("u001", "mel").state, "stale");
  EXPECT_THROW(reason("nobody", "mel"), StorageError);
}

TEST_F(VerifyTest, EveryBadUtteranceIsNamedWithItsKindsAndReason) {
  EXPECT_TRUE(verify().utterances.empty());
  world_.mel_setting = "hop";
  world_.token_setting = "other";
  const VerifyReport stale = verify();
  ASSERT_EQ(stale.utterances.size(), 5U);
  EXPECT_EQ(stale.utterances[2],
            (BadUtterance{"u002", "stale", "made with other settings", {"mel", "tokens"}}));
  world_.mel_setting = "a";
  world_.token_setting = "t";

  world_.rows.texts["u003"] = "another transcript";
  std::filesystem::remove(world_.cache_path() + "/shard-00000.stk");
  const VerifyReport mixed = verify();
  ASSERT_EQ(mixed.utterances.size(), 6U);
  EXPECT_EQ(mixed.utterances[0], (BadUtterance{"u000", "missing", "not in the cache", {"mel"}}));
  EXPECT_EQ(mixed.utterances[4],
            (BadUtterance{"u003", "stale", "the transcript changed", {"tokens"}}));
}

TEST_F(VerifyTest, AFlippedByteIsNamedByItsUtteranceWithAndWithoutTheDataSet) {
  flip("shard-00000.stk", 64 + 128 + 2);
  for (const VerifyReport& report : {verify(), verify_bytes(folder(), {})}) {
    ASSERT_EQ(report.utterances.size(), 1U);
    EXPECT_EQ(report.utterances[0].state, "corrupt");
    EXPECT_EQ(report.utterances[0].kinds, std::vector<std::string>{"mel"});
  }
}

TEST_F(VerifyTest, SourcesAreReadAgainWhateverTheirTimesSay) {
  const auto before = std::filesystem::last_write_time(world_.source_path(1));
  std::fstream(world_.source_path(1), std::ios::in | std::ios::out) << "X";
  std::filesystem::last_write_time(world_.source_path(1), before);
  EXPECT_EQ(verify(SourceCheck::kContent).stale, 1U);
}

TEST_F(VerifyTest, UnusedCachesAndLitterAreListedAndRemoved) {
  std::filesystem::create_directories(temp_.file("caches"));
  std::filesystem::rename(world_.cache_path(), temp_.file("caches/old"));
  world_.build();
  std::filesystem::rename(world_.cache_path(), temp_.file("caches/used"));
  std::ofstream(temp_.file("caches/used/shard-00000.stk.tmp.0123456789abcdef")) << "litter";
  std::ofstream(temp_.file("caches/old/notes.txt")) << "not ours";
  const std::vector<UnusedItem> items =
      find_unused(system_io(), temp_.file("caches"), {temp_.file("caches/used")});
  ASSERT_EQ(items.size(), 2U);
  EXPECT_TRUE(items[0].is_cache);
  for (const UnusedItem& item : items) remove_unused(system_io(), item);
  EXPECT_TRUE(std::filesystem::exists(temp_.file("caches/old/notes.txt")));
  EXPECT_FALSE(std::filesystem::exists(temp_.file("caches/old/manifest.json")));
  EXPECT_TRUE(std::filesystem::exists(temp_.file("caches/used/manifest.json")));
}

}  // namespace
}  // namespace stoker::cache
