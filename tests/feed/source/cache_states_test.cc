// A feed over caches that are half built, of another level, or of records that no row can have:
// the same bytes as without a cache, at one numeric path.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "stoker/cache/build/precompute.h"
#include "stoker/cache/errors.h"
#include "stoker/feed/open_feed.h"
#include "tests/feed/small_data_set.h"

namespace stoker::feed {
namespace {

using Mode = config::PreprocessingMode;

std::vector<std::string> digests_of(OpenedFeed& opened) {
  std::vector<std::string> found;
  while (const auto batch = opened.feed.next()) found.push_back(batch->content_digest().hex());
  return found;
}

std::vector<std::string> digests_of(const config::Settings& settings,
                                    const OpenOptions& options = {}) {
  OpenedFeed opened = open_feed(settings, options);
  return digests_of(opened);
}

class HalfBuiltTest : public testing::Test {
 protected:
  void SetUp() override {
    if (detect_simd_level() == SimdLevel::kScalar) GTEST_SKIP() << "there is one level only";
    set_.settings().cache.dir = set_.folder() / "cache";
    const std::string list = set_.folder() / "metadata.csv";
    std::filesystem::copy_file(list, set_.folder() / "all.csv");
    std::ifstream in(set_.folder() / "all.csv");
    std::ofstream half(list);
    std::string line;
    for (int i = 0; i < 12 && std::getline(in, line); ++i) half << line << "\n";
    half.close();
    cache::precompute(set_.settings(), system_io(), {.begin_at = SimdLevel::kScalar});
    std::filesystem::copy_file(set_.folder() / "all.csv", list,
                               std::filesystem::copy_options::overwrite_existing);
    unsetenv("STOKER_SIMD");
  }
  void TearDown() override { unsetenv("STOKER_SIMD"); }

  std::vector<std::string> scalar_digests() {
    setenv("STOKER_SIMD", "scalar", 1);
    config::Settings runtime = set_.settings();
    runtime.loader.preprocessing_mode = Mode::kRuntime;
    const std::vector<std::string> found = digests_of(runtime);
    unsetenv("STOKER_SIMD");
    return found;
  }

  SmallDataSet set_{24};
};

TEST_F(HalfBuiltTest, MissingRowsAreMadeOnTheCachesOwnPath) {
  const std::vector<std::string> expected = scalar_digests();
  OpenedFeed first = open_feed(set_.settings());
  EXPECT_EQ(first.source->numeric_path(), "scalar");
  EXPECT_EQ(first.source->spec().mel().level(), SimdLevel::kScalar);
  const std::optional<Batch> batch = first.feed.next();
  ASSERT_TRUE(batch.has_value());
  EXPECT_EQ(batch->content_digest().hex(), expected.front());
  const std::string state = first.feed.state();
  std::vector<std::string> rest = digests_of(first);
  EXPECT_EQ(rest, std::vector<std::string>(expected.begin() + 1, expected.end()));
  cache::precompute(set_.settings(), system_io(), {.num_workers = 2});
  EXPECT_EQ(digests_of(set_.settings()), expected) << "the completed cache gives other content";
  EXPECT_EQ(digests_of(set_.settings(), {.state = state}), rest) << "a resume gives other content";
}

TEST_F(HalfBuiltTest, AForcedLevelThatIsNotTheCachesIsRefused) {
  setenv("STOKER_SIMD", std::string(simd_level_name(detect_simd_level())).c_str(), 1);
  try {
    open_feed(set_.settings());
    FAIL() << "rows of two numeric paths in one run";
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.error().code, &cache::kCacheSettings);
  }
  unsetenv("STOKER_SIMD");
  cache::precompute(set_.settings(), system_io(), {.num_workers = 2});
  setenv("STOKER_SIMD", std::string(simd_level_name(detect_simd_level())).c_str(), 1);
  EXPECT_EQ(open_feed(set_.settings()).source->numeric_path(), "scalar");
}

TEST(CacheStatesTest, TheBackgroundBuildBeginsAtTheLevelOfTheFeed) {
  if (detect_simd_level() == SimdLevel::kScalar) GTEST_SKIP() << "there is one level only";
  SmallDataSet set(20);
  set.settings().cache.dir = set.folder() / "cache";
  setenv("STOKER_SIMD", "scalar", 1);
  config::Settings runtime = set.settings();
  runtime.loader.preprocessing_mode = Mode::kRuntime;
  std::string state;
  {
    OpenedFeed opened = open_feed(runtime);
    ASSERT_TRUE(opened.feed.next().has_value());
    state = opened.feed.state();
  }
  unsetenv("STOKER_SIMD");
  const Stopwatch watch;
  {
    OpenedFeed resumed = open_feed(set.settings(), {.state = state});
    while (watch.seconds() < 30.0 && !std::filesystem::exists(set.folder() / "cache/config.yaml"))
      resumed.feed.next();
  }
  ASSERT_TRUE(std::filesystem::exists(set.folder() / "cache/config.yaml"));
  EXPECT_EQ(open_feed(set.settings(), {.state = state}).source->numeric_path(), "scalar");
}

}  // namespace
}  // namespace stoker::feed
