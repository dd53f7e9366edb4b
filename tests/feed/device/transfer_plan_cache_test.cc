// Utterances of the cache that reach a GPU without a copy on the host.
#include <gtest/gtest.h>

#include "stoker/cuda/errors.h"
#include "stoker/feed/errors.h"
#include "tests/feed/device/open_device_feed.h"

namespace stoker::feed {
namespace {

using TransferPlanCacheTest = OpenDeviceFeedTest;

TEST_F(TransferPlanCacheTest, UtterancesOfTheCacheAreCopiedFromItsPages) {
  struct Case {
    const char* name;
    config::CacheContent content;
    config::MelPlace place;
    config::CacheTier tier;
  };
  using config::CacheContent;
  using config::CacheTier;
  using config::MelPlace;
  for (const Case& row :
       {Case{"mels", CacheContent::kMel, MelPlace::kCpu, CacheTier::kDisk},
        Case{"mels that stay", CacheContent::kMel, MelPlace::kCpu, CacheTier::kGpu},
        Case{"samples", CacheContent::kPcm, MelPlace::kGpu, CacheTier::kDisk},
        Case{"samples that stay", CacheContent::kPcm, MelPlace::kGpu, CacheTier::kGpu}}) {
    SCOPED_TRACE(row.name);
    SmallDataSet set(24);
    config::Settings& settings = set.settings();
    settings.gpu.buffer_size = 4;
    settings.cache.content = row.content;
    settings.gpu.mel_place = row.place;
    settings.cache.tier = row.tier;
    settings.loader.preprocessing_mode = config::PreprocessingMode::kPrecompute;
    set.build_cache();
    settings.run.device = "cuda";
    OpenedFeed opened = open(settings);
    EXPECT_TRUE(opened.feed.format().rows_in_place);
    settings.gpu.copy_from_cache = false;
    OpenedFeed through_slots = open(settings);
    EXPECT_FALSE(through_slots.feed.format().rows_in_place);
    const std::vector<std::string> expected = digests(through_slots.feed);
    EXPECT_GT(expected.size(), 3U);
    EXPECT_EQ(digests(opened.feed), expected);
  }
}

TEST_F(TransferPlanCacheTest, ABadRecordIsMadeAgainInsteadOfCopied) {
  set_.settings().loader.preprocessing_mode = config::PreprocessingMode::kPrecompute;
  set_.settings().gpu.mel_place = config::MelPlace::kCpu;
  const std::string cache = set_.build_cache();
  const std::vector<std::string> expected = host_digests(set_.settings());
  for (const auto& entry : std::filesystem::directory_iterator(cache)) {
    if (entry.path().extension() != ".stk" || entry.file_size() < 100'000) continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(50'000);
    file.put('\x5A');
  }
  OpenedFeed opened = open(set_.settings());
  EXPECT_TRUE(opened.feed.format().rows_in_place);
  EXPECT_EQ(digests(opened.feed), expected);
  EXPECT_EQ(opened.feed.stats().fallbacks.at(0).from, "cache record");
}

}  // namespace
}  // namespace stoker::feed
