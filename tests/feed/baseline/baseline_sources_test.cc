// The naive loader delivers what the native one does, clip by clip.
#include "stoker/feed/baseline/baseline_sources.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "stoker/feed/errors.h"
#include "stoker/feed/open_feed.h"
#include "tests/feed/small_data_set.h"

namespace stoker::feed {
namespace {

using Mode = config::PreprocessingMode;

std::vector<std::string> epoch_digests(const config::Settings& settings) {
  OpenedFeed opened = open_feed(settings);
  std::vector<std::string> digests;
  while (const auto batch = opened.feed.next()) digests.push_back(batch->content_digest().hex());
  return digests;
}

struct NaiveCase {
  const char* name;
  Mode mode;
  config::MelDtype dtype;
  bool with_files;
};

class NaiveStoreTest : public testing::TestWithParam<NaiveCase> {};

TEST_P(NaiveStoreTest, DeliversWhatTheNativeLoaderDoes) {
  SmallDataSet set(12);
  const std::string folder = set.build_cache();
  set.settings().batch.batch_dtype = GetParam().dtype;
  const std::vector<std::string> native = epoch_digests(set.settings());
  if (GetParam().with_files) export_npy_folder(system_io(), folder, {});
  set.settings().loader.use_native_loading = false;
  set.settings().loader.preprocessing_mode = GetParam().mode;
  EXPECT_EQ(epoch_digests(set.settings()), native);
  EXPECT_GT(native.size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(
    Ways, NaiveStoreTest,
    testing::Values(NaiveCase{"NpyFiles", Mode::kPrecompute, config::MelDtype::kF16, true},
                    NaiveCase{"NpyFilesAsF32", Mode::kPrecompute, config::MelDtype::kF32, true},
                    NaiveCase{"SoundFiles", Mode::kRuntime, config::MelDtype::kF16, false},
                    NaiveCase{"SoundFilesAsF32", Mode::kRuntime, config::MelDtype::kF32, true},
                    NaiveCase{"AutoWithNpyFiles", Mode::kAuto, config::MelDtype::kF16, true},
                    NaiveCase{"AutoWithout", Mode::kAuto, config::MelDtype::kF16, false}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(NaiveLoaderTest, WorksInTheThreadOfItsCaller) {
  SmallDataSet set(12);
  set.settings().loader.use_native_loading = false;
  OpenedFeed opened = open_feed(set.settings());
  ASSERT_TRUE(opened.feed.next());
  const FeedStats stats = opened.feed.stats();
  EXPECT_EQ(opened.feed.num_workers(), 0U);
  EXPECT_EQ(stats.pipeline.num_ready, 0U);
}

TEST(NaiveLoaderTest, PrecomputeNeedsTheNpyFiles) {
  SmallDataSet set(12);
  set.build_cache();
  set.settings().loader.use_native_loading = false;
  set.settings().loader.preprocessing_mode = Mode::kPrecompute;
  try {
    open_feed(set.settings());
    FAIL() << "opened without files";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, &kFeedNotCached);
    EXPECT_NE(failure.error().cure.find("bench feed"), std::string::npos);
  }
}

TEST(NpyFolderTest, IsWrittenOnceAndGoesStaleWithTheCache) {
  SmallDataSet set(12);
  const std::string folder = set.build_cache();
  EXPECT_FALSE(has_npy_folder(system_io(), folder));
  export_npy_folder(system_io(), folder, {});
  EXPECT_TRUE(has_npy_folder(system_io(), folder));
  const std::string one = npy_folder_of(folder) + "/mel/spk0_1000.npy";
  const auto written = std::filesystem::last_write_time(one);
  export_npy_folder(system_io(), folder, {});
  EXPECT_EQ(std::filesystem::last_write_time(one), written);
  std::ofstream(folder + "/manifest.json", std::ios::app) << "\n";
  EXPECT_FALSE(has_npy_folder(system_io(), folder));
}

}  // namespace
}  // namespace stoker::feed
