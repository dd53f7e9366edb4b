// What is measured for a recommendation: memory limits from planted files, storage, and the whole
// of it on a small data set, after which nothing stays.
#include "stoker/observe/recommend/recommend.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/doubles/fault_io.h"
#include "tests/doubles/scratch_folder.h"
#include "tests/feed/small_data_set.h"

namespace stoker::observe {
namespace {

namespace fs = std::filesystem;

void plant(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path) << text;
}

TEST(MachineFactsTest, AControlGroupLimitsTheMemory) {
  const ScratchFolder root;
  plant(root / "proc/meminfo", "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\n");
  EXPECT_EQ(read_memory_facts(system_io(), root.path()).available_bytes, 8ULL << 30U);
  plant(root / "proc/self/cgroup", "0::/box\n");
  plant(root / "sys/fs/cgroup/box/memory.max", "1073741824\n");
  plant(root / "sys/fs/cgroup/box/memory.current", "805306368\n");
  plant(root / "sys/fs/cgroup/box/memory.stat", "inactive_file 268435456\n");
  const MemoryFacts facts = read_memory_facts(system_io(), root.path());
  EXPECT_EQ(facts.limit_bytes, 1ULL << 30U);
  EXPECT_EQ(facts.available_bytes, 512ULL << 20U) << "what can be dropped counts as free";
  EXPECT_EQ(facts.limited_by, "a control group");
}

TEST(MachineFactsTest, StorageIsMeasuredAndNothingStays) {
  const ScratchFolder folder;
  const StorageFacts facts = measure_storage(system_io(), folder.path(), 1U << 20U).take_or_raise();
  EXPECT_GT(facts.write_mb_per_s, 0);
  EXPECT_GT(facts.warm_mb_per_s, 0);
  EXPECT_GT(facts.warm_files_per_s, 0);
  EXPECT_GT(facts.free_bytes, 0U);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(MachineFactsTest, AFullDiskIsAnErrorAndNothingStays) {
  const ScratchFolder folder;
  FaultIo io;
  io.plan({.at_call = 2,
           .calls = {IoCall::kWrite},
           .repeat = Fault::Repeat::kFromThenOn,
           .error_number = ENOSPC});
  EXPECT_FALSE(measure_storage(io, folder.path(), 1U << 20U));
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(RecommendTest, MeasuresTheUsersDataAndLeavesNothing) {
  feed::SmallDataSet set(40);
  config::Settings settings = set.settings();
  settings.run.device = "cpu";
  settings.loader.num_workers = {};
  const Recommendation found = recommend({.settings = settings, .budget_s = 2});
  EXPECT_FALSE(found.findings.is_made_data);
  EXPECT_EQ(found.findings.data.num_utterances, 40U);
  EXPECT_EQ(found.findings.data.formats.at("wav"), 40U);
  ASSERT_TRUE(found.findings.search.best);
  EXPECT_LE(found.findings.search.best->choice.num_workers, count_cpus().allowed);
  EXPECT_GT(found.advice.clips_per_s.value, 0);
  EXPECT_GT(found.advice.memory_bytes.value, 0);
  EXPECT_EQ(found.findings.search.tried.front().choice.tier, FeedTier::kFiles);
  EXPECT_FALSE(fs::exists(set.folder() / ".stoker")) << "caches of the runs are removed";
}

// Whatever the storage, a tier that cannot be built is left out and said.
TEST(RecommendTest, WithoutRoomForACacheTheFilesAreRead) {
  feed::SmallDataSet set(12);
  set.settings().run.device = "cpu";
  set.settings().loader.num_workers = {};
  FaultIo io;
  io.set_free_space(1000);
  const Recommendation found = recommend({.settings = set.settings(), .budget_s = 1, .io = &io});
  ASSERT_TRUE(found.findings.search.best);
  EXPECT_EQ(found.findings.search.best->choice.tier, FeedTier::kFiles);
}

TEST(RecommendTest, WhatIsAugmentedIsTriedFromFilesAndSamplesAlone) {
  feed::SmallDataSet set(40);
  config::Settings settings = set.settings();
  settings.run.device = "cpu";
  settings.loader.num_workers = {};
  settings.augment.gain_db = {-6.0, 6.0};
  const Recommendation found = recommend({.settings = settings, .budget_s = 2});
  EXPECT_TRUE(found.findings.refusals.empty());
  ASSERT_TRUE(found.findings.search.best);
  for (const auto& tried : found.findings.search.tried) {
    const FeedTier tier = tried.choice.tier;
    EXPECT_TRUE(tier == FeedTier::kFiles || tier == FeedTier::kPcm);
  }
}

}  // namespace
}  // namespace stoker::observe
