// The tuner at work on real feeds: it moves, logs, and changes no byte.
#include "stoker/feed/tuner/tuner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "stoker/feed/feed.h"
#include "tests/doubles/fake_clock.h"
#include "tests/feed/synthetic_source.h"

namespace stoker::feed {
namespace {

using namespace std::chrono_literals;

// Waits for something that another thread will do; false after ten seconds.
bool eventually(const std::function<bool()>& holds) {
  for (int i = 0; i < 10'000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

TEST(TunerTest, AppliesWhatItDecidesAndLogsIt) {
  FakeClock clock;
  std::atomic<unsigned> workers{1};
  std::atomic<std::uint64_t> delivered{0};
  Tuner tuner(
      {.count =
           [&] {
             return TunerCounts{delivered.load(), static_cast<double>(clock.now().count()) * 1e-9,
                                0};
           },
       .apply = [&](const TunerKnobs& knobs) { workers = knobs.at(TunerKnob::kWorkers); }},
      {.start = {{1, 4, 16, 0}}, .limits = {{{4, 4, 16, 0}}, 4}, .num_cores = 4, .clock = &clock});
  for (std::size_t window = 0; window < 12; ++window) {
    delivered += 100 * workers.load();
    clock.advance(250ms);
    ASSERT_TRUE(eventually([&] { return tuner.log().entries.size() == window + 1; }));
  }
  EXPECT_EQ(workers.load(), 4U);
  const TunerLog log = tuner.log();
  EXPECT_EQ(replay_tuner(log).knobs.at(TunerKnob::kWorkers), 4U);
  EXPECT_FALSE(replay_tuner(log).first_difference);
}

// A consumer on the fake clock that is busy for 98 % of its time and takes whatever comes.
TEST(TunerTest, LeavesABusyConsumerItsWorkers) {
  FakeClock clock;
  std::atomic<unsigned> workers{15}, fewest{15}, most{15};
  double waited_s = 0;
  std::uint64_t delivered = 0;
  Tuner tuner({.count =
                   [&] {
                     return TunerCounts{.num_batches = delivered,
                                        .consumer_wait_s = waited_s,
                                        .idle_s = static_cast<double>(clock.now().count()) * 8e-9};
                   },
               .apply =
                   [&](const TunerKnobs& knobs) {
                     workers = knobs.at(TunerKnob::kWorkers);
                     fewest = std::min(fewest.load(), workers.load());
                     most = std::max(most.load(), workers.load());
                   }},
              {.start = {{15, 60, 16, 0}},
               .limits = {{{15, 160, 512, 0}}, 64},
               .num_cores = 16,
               .num_online_cores = 16,
               .clock = &clock});
  for (std::size_t window = 0; window < 60; ++window) {
    delivered += 250;
    waited_s += 0.02 * 0.25;
    clock.advance(250ms);
    ASSERT_TRUE(eventually([&] { return tuner.log().entries.size() == window + 1; }));
  }
  EXPECT_EQ(fewest.load(), 15U);
  EXPECT_EQ(most.load(), 15U);
}

TEST(TunerTest, AWindowWithoutABatchDoesNotCount) {
  FakeClock clock;
  std::atomic<unsigned> num_looks{0};
  const Tuner tuner({.count =
                         [&] {
                           ++num_looks;
                           return TunerCounts{};
                         },
                     .apply = [](const TunerKnobs&) { FAIL() << "moved without a reason"; }},
                    {.start = {{1, 1, 0, 0}}, .limits = {{{4, 8, 16, 0}}, 4}, .clock = &clock});
  for (unsigned window = 1; window < 5; ++window) {
    clock.advance(250ms);
    ASSERT_TRUE(eventually([&] { return num_looks.load() > window; }));
  }
  EXPECT_TRUE(tuner.log().entries.empty());
}

std::vector<std::string> digests(FeedSetup setup, std::chrono::microseconds pause) {
  Feed feed(std::move(setup));
  std::vector<std::string> all;
  while (!feed.has_ended()) {
    const auto batch = feed.next();
    if (batch) all.push_back(batch->content_digest().hex());
    std::this_thread::sleep_for(pause);
  }
  return all;
}

TEST(TunerTest, ChangesNoByteOfTheFeed) {
  auto store = std::make_shared<SyntheticSource>(speech_like_rows(400));
  store->before_mel = [](std::uint32_t) -> Result<void> {
    std::this_thread::sleep_for(50us);
    return {};
  };
  FeedSetup fixed = synthetic_setup(store);
  fixed.num_epochs = 2;
  FeedSetup tuned = fixed;
  tuned.loading.num_workers = 1;
  tuned.loading.depth = 1;
  tuned.loading.tuned_cores = 4;
  const std::vector<std::string> promised = digests(std::move(fixed), 0us);
  EXPECT_GT(promised.size(), 20U);
  EXPECT_EQ(digests(std::move(tuned), 0us), promised);
}

TEST(TunerTest, MovesARealFeedAwayFromBadSettings) {
  auto store = std::make_shared<SyntheticSource>(speech_like_rows(400));
  store->before_mel = [](std::uint32_t) -> Result<void> {
    std::this_thread::sleep_for(100us);  // storage that answers slowly: more workers help
    return {};
  };
  FeedSetup setup = synthetic_setup(store);
  setup.loading.num_workers = 1;
  setup.loading.depth = 1;
  setup.loading.tuned_cores = 4;
  Feed feed(std::move(setup));
  const Stopwatch watch;
  while (feed.num_workers() < 4 && watch.seconds() < 20) feed.next();
  EXPECT_GE(feed.num_workers(), 4U);
  const std::optional<TunerLog> log = feed.tuner_log();
  ASSERT_TRUE(log);
  EXPECT_FALSE(replay_tuner(*log).first_difference);
}

TEST(TunerTest, ASettingByHandIsWhereItGoesOn) {
  FeedSetup setup = synthetic_setup(std::make_shared<SyntheticSource>(speech_like_rows(100)));
  setup.loading.tuned_cores = 4;
  Feed feed(std::move(setup));
  feed.set_num_workers(3);
  feed.set_depth(7);
  ASSERT_TRUE(feed.next());
  ASSERT_TRUE(feed.tuner_log());
  EXPECT_EQ(feed.tuner_log()->start, (TunerKnobs{{3, 7, 0, 0}}));
}

TEST(TunerTest, OffMeansNoTuner) {
  Feed feed(synthetic_setup(std::make_shared<SyntheticSource>(speech_like_rows(100))));
  EXPECT_FALSE(feed.tuner_log());
}

}  // namespace
}  // namespace stoker::feed
