// The storage is asked for the rows of the next batches, in their order and not too far.
#include "stoker/feed/source/read_ahead.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "stoker/feed/feed.h"
#include "stoker/feed/open_feed.h"
#include "stoker/feed/source/wrapped_source.h"
#include "tests/feed/small_data_set.h"
#include "tests/feed/synthetic_source.h"

namespace stoker::feed {
namespace {

// Writes down what it is asked for.
class AskedStore final : public WrappedSource<SyntheticSource> {
 public:
  using WrappedSource::WrappedSource;

  std::unique_ptr<UtteranceReader> make_reader() const override { return inner().make_reader(); }
  void will_need(std::span<const std::uint32_t> rows) const override {
    const Lock lock(mutex_);
    asked_.emplace_back(rows.begin(), rows.end());
  }
  std::vector<std::vector<std::uint32_t>> asked() const {
    const Lock lock(mutex_);
    return asked_;
  }

 private:
  mutable Mutex mutex_;
  mutable std::vector<std::vector<std::uint32_t>> asked_ STOKER_GUARDED_BY(mutex_);
};

FeedSetup ahead_setup(const std::shared_ptr<const AskedStore>& store,
                      const std::shared_ptr<const SyntheticSource>& rows, unsigned num_batches) {
  FeedSetup setup = synthetic_setup(rows);
  setup.store = store;
  setup.loading.num_workers = 1;
  setup.loading.depth = 1;
  setup.loading.read_ahead_batches = num_batches;
  return setup;
}

bool waits_for(const AskedStore& store, std::size_t num_batches) {
  for (int i = 0; i < 10'000 && store.asked().size() < num_batches; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return store.asked().size() >= num_batches;
}

TEST(ReadAheadTest, AsksInTheOrderOfConsumptionAndNotTooFar) {
  const auto rows = std::make_shared<SyntheticSource>(speech_like_rows(600));
  const auto store = std::make_shared<AskedStore>(rows);
  Feed feed(ahead_setup(store, rows, 8));
  ASSERT_TRUE(feed.next());
  // At most depth + 1 = 2 more are being filled, and eight beyond them asked for.
  ASSERT_TRUE(waits_for(*store, 8));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_LE(store->asked().size(), 3U + 8U);
  EpochPlan plan;
  feed.order().plan_epoch(0, plan);
  const auto rows_of = [&](std::size_t batch) {
    const auto view = plan.view_rows(plan.batches[batch]);
    return std::vector<std::uint32_t>(view.begin(), view.end());
  };
  // One that was already being filled when its turn came may be left out: the three taken, filled
  // and being filled.
  constexpr std::size_t kMayBeFilling = 3;
  std::size_t batch = 0;
  for (const std::vector<std::uint32_t>& each : store->asked()) {
    while (batch < kMayBeFilling && rows_of(batch) != each) ++batch;
    EXPECT_EQ(each, rows_of(batch)) << batch;
    ++batch;
  }
}

TEST(ReadAheadTest, GoesOnIntoTheNextEpochButNotPastTheLast) {
  const auto rows = std::make_shared<SyntheticSource>(speech_like_rows(60));
  const auto store = std::make_shared<AskedStore>(rows);
  FeedSetup setup = ahead_setup(store, rows, 64);
  setup.num_epochs = 2;
  Feed feed(std::move(setup));
  std::uint64_t taken = 0;
  while (!feed.has_ended()) {
    if (feed.next()) ++taken;
  }
  EXPECT_GT(taken, 4U);
  EXPECT_LE(store->asked().size(), taken);
  EXPECT_GE(store->asked().size(), taken / 2);
}

TEST(ReadAheadTest, ZeroAsksForNothing) {
  const auto rows = std::make_shared<SyntheticSource>(speech_like_rows(60));
  const auto store = std::make_shared<AskedStore>(rows);
  Feed feed(ahead_setup(store, rows, 0));
  while (feed.next()) {
  }
  EXPECT_TRUE(store->asked().empty());
}

TEST(ReadAheadTest, EndsWithinASecondWhenTheStorageHangs) {
  class HangingStore final : public WrappedSource<SyntheticSource> {
   public:
    using WrappedSource::WrappedSource;

    std::unique_ptr<UtteranceReader> make_reader() const override { return inner().make_reader(); }
    void will_need(std::span<const std::uint32_t>) const override {
      std::this_thread::sleep_for(std::chrono::seconds(4));
    }
  };
  const auto rows = std::make_shared<SyntheticSource>(speech_like_rows(60));
  FeedSetup setup = synthetic_setup(rows);
  setup.store = std::make_shared<HangingStore>(rows);
  setup.loading.read_ahead_batches = 8;
  auto feed = std::make_unique<Feed>(std::move(setup));
  ASSERT_TRUE(feed->next());
  const Stopwatch watch;
  feed.reset();
  EXPECT_LT(watch.seconds(), 2.0);
}

// Drops a file from the page cache, as far as the file system lets one.
void forget_file(const std::string& path) {
  const File file = open_file(system_io(), path, OpenFor::kRead).take_or_raise();
  posix_fadvise(file.handle(), 0, 0, POSIX_FADV_DONTNEED);
}

TEST(ReadAheadTest, ARealFeedAsksForItsBatches) {
  SmallDataSet set(60);
  const std::string folder = set.build_cache();
  for (const auto& entry : std::filesystem::directory_iterator(folder)) forget_file(entry.path());
  set.settings().loader.auto_tune_performance = false;
  set.settings().loader.read_ahead_batches = 4;
  OpenedFeed opened = open_feed(set.settings());
  const Stopwatch watch;
  while (opened.feed.stats().num_read_ahead < 3 && watch.seconds() < 10) opened.feed.next();
  EXPECT_GE(opened.feed.stats().num_read_ahead, 3U);
}

}  // namespace
}  // namespace stoker::feed
