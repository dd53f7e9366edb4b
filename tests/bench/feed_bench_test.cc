// The feed's benchmark measures what it says, and refuses what it cannot.
#include "stoker/bench/feed_bench.h"

#include <gtest/gtest.h>

#include "stoker/bench/errors.h"
#include "stoker/bench/feed_window.h"
#include "tests/feed/small_data_set.h"

namespace stoker::bench {
namespace {

FeedBenchCase make_case(const feed::SmallDataSet& set, FeedLoader loader, FeedPath path) {
  config::Settings settings = const_cast<feed::SmallDataSet&>(set).settings();
  return {loader, path, {}, with_path(settings, loader, path)};
}

TEST(FeedBenchTest, EveryLoaderAndPathGivesARow) {
  const feed::SmallDataSet set(24);
  FeedBenchOptions options;
  for (const FeedPath path : {FeedPath::kCached, FeedPath::kPcm, FeedPath::kFiles}) {
    for (const FeedLoader loader : {FeedLoader::kNaive, FeedLoader::kNative}) {
      if (path == FeedPath::kPcm && loader == FeedLoader::kNaive) continue;
      options.cases.push_back(make_case(set, loader, path));
    }
  }
  options.seconds = 0.12;
  options.num_windows = 2;
  const FeedBenchReport report = bench_feed(system_io(), options);
  ASSERT_EQ(report.rows.size(), options.cases.size());
  for (const FeedBenchRow& row : report.rows) {
    SCOPED_TRACE(std::string(name_of(row.what.loader)) + " " + std::string(name_of(row.what.path)));
    EXPECT_GT(row.clips_per_s, 0);
    EXPECT_GE(row.clips_per_s, row.median_clips_per_s);
    EXPECT_GT(row.limit_clips_per_s, 0);
    EXPECT_GT(row.cpu_s_per_1000_clips, 0);
    EXPECT_GT(row.num_batches, 0U);
    EXPECT_GT(row.held_mb, 0);
    EXPECT_FALSE(row.memory_intervals);
    EXPECT_EQ(row.num_workers, row.what.loader == FeedLoader::kNaive ? 0U : 2U);
  }
  EXPECT_GT(report.calibration_ms, 0);
}

TEST(FeedBenchTest, ADemandIsSetBesideTheSameConsumerFedFromMemory) {
  const feed::SmallDataSet set(24);
  FeedBenchOptions options;
  options.cases = {make_case(set, FeedLoader::kNative, FeedPath::kCached)};
  options.seconds = 0.1;
  options.num_windows = 1;
  options.step_ms = 2.0;
  const FeedBenchRow row = bench_feed(system_io(), options).rows.front();
  ASSERT_TRUE(row.memory_intervals);
  EXPECT_DOUBLE_EQ(row.step_ms, 2.0);
  EXPECT_GE(row.intervals.min_ms, 2.0);
  EXPECT_GE(row.memory_intervals->min_ms, 2.0);
}

TEST(FeedBenchTest, AShareOfTheSupplyIsDemandedOfEachWindow) {
  const feed::SmallDataSet set(24);
  FeedBenchOptions options;
  options.cases = {make_case(set, FeedLoader::kNative, FeedPath::kCached)};
  options.seconds = 0.1;
  options.num_windows = 1;
  options.demand_share = 0.25;
  const FeedBenchRow row = bench_feed(system_io(), options).rows.front();
  EXPECT_GT(row.supply_clips_per_s, 0);
  EXPECT_GT(row.step_ms, 0);
  EXPECT_LT(row.clips_per_s, 0.4 * row.supply_clips_per_s);
  EXPECT_GT(row.times.worker_busy_share(), 0);
}

TEST(FeedBenchTest, ACostIsOfNeighbouringWindowsAndSaysHowSureItIs) {
  FeedBenchRow with, without;
  for (int i = 0; i < 100; ++i) {
    const double machine = i % 7 == 0 ? 0.5 : 1;  // slows both
    const double noise = 1 + 1e-4 * (i - 49.5);
    without.windows_clips_per_s.push_back(1000 * machine);
    with.windows_clips_per_s.push_back(990 * machine * noise);
    without.windows_cpu_s_per_1000_clips.push_back(2 / machine);
    with.windows_cpu_s_per_1000_clips.push_back(2.01 / machine / noise);
  }
  with.clips_per_s = 980;
  without.clips_per_s = 1000;
  with.cpu_s_per_1000_clips = without.cpu_s_per_1000_clips = 2;
  const FeedBenchCost cost = cost_between(with, without);
  EXPECT_NEAR(cost.median_rate, 0.01, 2e-4);
  EXPECT_NEAR(cost.lowest_rate, 0.009, 2e-4);
  EXPECT_NEAR(cost.highest_rate, 0.011, 2e-4);
  EXPECT_NEAR(cost.best_rate, 0.02, 1e-9);
  EXPECT_NEAR(cost.median_cpu, 0.005, 2e-4);
  EXPECT_NEAR(cost.lowest_cpu, 0.004, 2e-4);
  EXPECT_NEAR(cost.highest_cpu, 0.006, 2e-4);
}

TEST(FeedBenchTest, AWindowWithoutBatchesGivesNoFigure) {
  const feed::SmallDataSet set(24);
  FeedBenchOptions options;
  options.cases = {make_case(set, FeedLoader::kNative, FeedPath::kCached)};
  options.cases.front().settings.loader.prefetch_buffer_size = 1;  // short to warm up
  options.seconds = 0.02;
  options.num_windows = 1;
  options.step_ms = 30.0;
  try {
    bench_feed(system_io(), options);
    FAIL() << "figures of one batch";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, &kBenchNothing);
    EXPECT_NE(failure.error().found.find("1 with steps of 30 ms"), std::string::npos)
        << failure.error().found;
  }
}

TEST(FeedBenchTest, AWrongBatchGivesNoSpeed) {
  feed::SmallDataSet set(24);
  const FeedBenchCase what = make_case(set, FeedLoader::kNative, FeedPath::kCached);
  prepare_case(system_io(), what, {});
  EXPECT_NO_THROW(check_feed_case(system_io(), what, {}));
  FeedBenchCase naive = make_case(set, FeedLoader::kNaive, FeedPath::kCached);
  prepare_case(system_io(), naive, {});
  // One value of one exported file, changed behind the loader's back.
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(set.folder() / ".stoker")) {
    if (entry.path().string().find("-npy/mel/") == std::string::npos) continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-2, std::ios::end);
    file.put('\x11');
  }
  try {
    check_feed_case(system_io(), naive, {});
    FAIL() << "a changed file went unseen";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, &kBenchWrong);
  }
}

TEST(FeedBenchTest, UnknownNamesAreRefusedWithTheKnownOnes) {
  EXPECT_EQ(loader_from("naive"), FeedLoader::kNaive);
  EXPECT_EQ(path_from("files"), FeedPath::kFiles);
  try {
    path_from("tape");
    FAIL() << "accepted";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, &kBenchChoice);
    EXPECT_NE(failure.error().promised.find("resident"), std::string::npos);
  }
}

TEST(FeedBenchTest, WhatIsAugmentedIsReadAsSamplesFromTheCache) {
  feed::SmallDataSet set(12);
  set.settings().augment.gain_db = {-6.0, 6.0};
  FeedBenchOptions options;
  for (const FeedLoader loader : {FeedLoader::kNaive, FeedLoader::kNative})
    options.cases.push_back(make_case(set, loader, FeedPath::kCached));
  options.seconds = 0.1;
  options.num_windows = 1;
  const FeedBenchReport report = bench_feed(system_io(), options);
  ASSERT_EQ(report.rows.size(), 2U);
  for (const FeedBenchRow& row : report.rows) EXPECT_GT(row.clips_per_s, 0);
}

TEST(FeedBenchTest, ResidentNeedsAGpu) {
  const feed::SmallDataSet set(4);
  FeedBenchOptions options;
  options.cases = {make_case(set, FeedLoader::kNative, FeedPath::kResident)};
  EXPECT_THROW(bench_feed(system_io(), options), Failure);
}

}  // namespace
}  // namespace stoker::bench
