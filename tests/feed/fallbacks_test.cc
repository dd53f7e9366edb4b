// Each fallback that needs no GPU, forced once: one warning, counted, an error with strict.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "stoker/feed/open_feed.h"
#include "tests/doubles/fault_io.h"
#include "tests/doubles/log_lines.h"
#include "tests/feed/small_data_set.h"

namespace stoker::feed {
namespace {

struct Outcome {
  std::vector<std::string> digests;
  std::vector<FallbackCount> fallbacks;
  std::vector<std::string> warnings;
};

Outcome run(const config::Settings& settings, Io& io = system_io()) {
  const auto lines = std::make_shared<LogLines>();
  set_log_sink(lines, LogLevel::kWarning);
  Outcome outcome;
  {
    OpenedFeed opened = open_feed(settings, {.io = &io});
    for (int epoch = 0; epoch < 2; ++epoch) {
      while (const auto batch = opened.feed.next())
        outcome.digests.push_back(batch->content_digest().hex());
    }
    outcome.fallbacks = opened.feed.stats().fallbacks;
  }
  set_log_sink(nullptr);
  outcome.warnings = lines->lines();
  return outcome;
}

int exit_of(const config::Settings& settings, Io& io = system_io()) {
  try {
    run(settings, io);
  } catch (const Failure& failure) {
    set_log_sink(nullptr);
    return static_cast<int>(failure.error().code->exit);
  }
  return 0;
}

// Mels are the large shard of the cache, tokens the small one.
enum class Shard { kMels, kTokens };

// Changes a byte inside a record of that shard.
void spoil_record(const std::string& folder, Shard which = Shard::kMels) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const bool is_large = entry.file_size() >= 100'000;
    if (entry.path().extension() != ".stk" || is_large != (which == Shard::kMels)) continue;
    const std::streamoff at = is_large ? 5000 : 64 + 128 + 2;  // a payload: after both headers
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const char byte = static_cast<char>(file.get());
    file.seekp(at);
    file.put(static_cast<char>(byte ^ 1));
    return;
  }
  FAIL() << "no such shard";
}

TEST(FallbacksTest, ABadRecordIsMadeAgainFromItsSource) {
  SmallDataSet set(20);
  const std::string folder = set.build_cache();
  const Outcome whole = run(set.settings());
  EXPECT_TRUE(whole.fallbacks.empty());
  spoil_record(folder);
  const Outcome spoiled = run(set.settings());
  EXPECT_EQ(spoiled.digests, whole.digests);
  ASSERT_EQ(spoiled.fallbacks.size(), 1U);
  EXPECT_EQ(spoiled.fallbacks.front().from, "cache record");
  EXPECT_EQ(spoiled.fallbacks.front().to, "source");
  EXPECT_GE(spoiled.fallbacks.front().count, 2U);  // once an epoch, and in what is read ahead
  EXPECT_EQ(spoiled.warnings.size(), 1U);
  set.settings().run.strict = true;
  EXPECT_EQ(exit_of(set.settings()), static_cast<int>(ExitCode::kStorage));
}

TEST(FallbacksTest, ABadTokenRecordIsMadeAgainFromItsText) {
  SmallDataSet set(20);
  const std::string folder = set.build_cache();
  const Outcome whole = run(set.settings());
  spoil_record(folder, Shard::kTokens);
  for (const auto mode :
       {config::PreprocessingMode::kAuto, config::PreprocessingMode::kPrecompute}) {
    set.settings().loader.preprocessing_mode = mode;
    const Outcome spoiled = run(set.settings());
    EXPECT_EQ(spoiled.digests, whole.digests);
    ASSERT_EQ(spoiled.fallbacks.size(), 1U);
    EXPECT_EQ(spoiled.fallbacks.front().from, "cache record");
    EXPECT_EQ(spoiled.warnings.size(), 1U);
  }
  set.settings().run.strict = true;
  EXPECT_EQ(exit_of(set.settings()), static_cast<int>(ExitCode::kStorage));
}

TEST(FallbacksTest, WithoutMappingsTheCacheIsReadByPread) {
  SmallDataSet set(20);
  set.build_cache();
  const Outcome mapped = run(set.settings());
  FaultIo refuses;
  refuses.plan(
      {.calls = {IoCall::kMap}, .repeat = Fault::Repeat::kFromThenOn, .error_number = ENOMEM});
  const Outcome read = run(set.settings(), refuses);
  EXPECT_EQ(read.digests, mapped.digests);
  ASSERT_EQ(read.fallbacks.size(), 1U);
  EXPECT_EQ(read.fallbacks.front().from, "mapping");
  EXPECT_EQ(read.fallbacks.front().to, "pread");
  EXPECT_EQ(read.fallbacks.front().count, 1U);
  EXPECT_EQ(read.warnings.size(), 1U);
  EXPECT_EQ(read.warnings.front().find("warning: "), 0U);
  set.settings().run.strict = true;
  EXPECT_NE(exit_of(set.settings(), refuses), 0);
}

TEST(FallbacksTest, ADamagedManifestMeansTheSources) {
  SmallDataSet set(20);
  const std::string folder = set.build_cache();
  const Outcome whole = run(set.settings());
  std::ofstream(folder + "/manifest.json", std::ios::app) << "x";
  set.settings().loader.preprocessing_mode = config::PreprocessingMode::kAuto;
  set.settings().cache.dir.clear();
  const Outcome damaged = run(set.settings());
  EXPECT_EQ(damaged.digests, whole.digests);
  ASSERT_EQ(damaged.fallbacks.size(), 1U);
  EXPECT_EQ(damaged.fallbacks.front().from, "cache");
}

TEST(FallbacksTest, NativeNeverBecomesNaiveByItself) {
  SmallDataSet set(20);
  set.build_cache();
  FaultIo refuses;
  refuses.plan(
      {.calls = {IoCall::kMap}, .repeat = Fault::Repeat::kFromThenOn, .error_number = ENOMEM});
  OpenedFeed opened = open_feed(set.settings(), {.io = &refuses});
  ASSERT_TRUE(opened.feed.next());
  EXPECT_GT(opened.feed.num_workers(), 0U);
}

}  // namespace
}  // namespace stoker::feed
