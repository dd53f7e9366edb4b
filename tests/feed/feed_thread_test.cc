// Feeds whose threads the system refuses to start: an error with its code, nothing left running,
// and no end of the process.
#include <gtest/gtest.h>

#include "stoker/base/cpu_count.h"
#include "stoker/base/errors.h"
#include "stoker/base/log.h"
#include "stoker/feed/open_feed.h"
#include "stoker/feed/tuner/tuner.h"
#include "tests/doubles/fake_clock.h"
#include "tests/doubles/log_lines.h"
#include "tests/doubles/refused_threads.h"
#include "tests/feed/device/simulated_device.h"
#include "tests/feed/small_data_set.h"

namespace stoker::feed {
namespace {

FeedSetup threaded_setup(SimulatedGpu* gpu) {
  FeedSetup setup = synthetic_setup(std::make_shared<SyntheticSource>(speech_like_rows(60)));
  setup.loading.read_ahead_batches = 4;
  setup.loading.tuned_cores = 4;
  setup.loading.max_workers = 4;
  if (gpu != nullptr) setup.device = simulated_device(*gpu, {.model_device = 1});
  return setup;
}

void expect_start_error(const std::function<void()>& call) {
  try {
    call();
    FAIL() << "every thread was started";
  } catch (const MemoryError& error) {
    EXPECT_EQ(error.error().code, &kThreadStart);
    EXPECT_EQ(error.exit_code(), ExitCode::kMemory);
  }
}

TEST(FeedThreadTest, OpeningEndsWhatItStartedAndThrows) {
  for (const bool is_on_gpu : {false, true}) {
    for (std::uint64_t number = 0;; ++number) {
      SimulatedGpu gpu({.num_devices = 2});
      const RefusedThreads refused(number);
      const auto open = [&] { Feed feed(threaded_setup(is_on_gpu ? &gpu : nullptr)); };
      if (number == 5 + (is_on_gpu ? 2 : 1)) {  // plan, ahead, 2 workers, watchdog, stage, tuner
        EXPECT_NO_THROW(open());
        break;
      }
      expect_start_error(open);
      EXPECT_EQ(gpu.num_handles(), 0U) << "thread " << number;
    }
  }
}

TEST(FeedThreadTest, FilesAndBackgroundBuildToo) {
  SmallDataSet set(12);
  set.settings().loader.num_workers = 3;
  std::uint64_t number = 0;
  for (; number < 100; ++number) {
    const RefusedThreads refused(number);
    try {
      OpenedFeed opened = open_feed(set.settings());
      while (opened.feed.next()) {
      }
    } catch (const MemoryError& error) {
      EXPECT_EQ(error.error().code, &kThreadStart) << error.what();
    }
    if (!refused.has_refused()) break;
  }
  EXPECT_GT(number, 6U);
  EXPECT_LT(number, 100U);
}

// The first thread is the one that plans: without it the feed stays where it was.
TEST(FeedThreadTest, AFeedThatCannotPlanAnotherPlaceGoesOnWhereItWas) {
  for (const bool is_on_gpu : {false, true}) {
    SimulatedGpu gpu({.num_devices = 2});
    Feed feed(threaded_setup(is_on_gpu ? &gpu : nullptr));
    ASSERT_TRUE(feed.next());
    {
      const RefusedThreads refused(0);
      expect_start_error([&] { feed.seek({0, 2}); });
    }
    EXPECT_EQ(feed.next()->index(), 1U);
  }
}

TEST(FeedThreadTest, AFeedThatCannotSeekHasEndedAndSaysWhy) {
  for (const bool is_on_gpu : {false, true}) {
    for (std::uint64_t number = 1; number < 5; ++number) {
      SimulatedGpu gpu({.num_devices = 2});
      Feed feed(threaded_setup(is_on_gpu ? &gpu : nullptr));
      ASSERT_TRUE(feed.next());
      {
        const RefusedThreads refused(number);
        expect_start_error([&] { feed.seek({0, 2}); });
      }
      expect_start_error([&] { feed.next(); });
      expect_start_error([&] { feed.set_num_workers(2); });
      EXPECT_EQ(feed.stats().num_batches, 1U);
      EXPECT_EQ(feed.debug_string(), "");
      feed.seek({0, 2});
      EXPECT_EQ(feed.next()->index(), 2U);
    }
  }
}

TEST(FeedThreadTest, WorkersThatCannotStartLeaveTheOthersAtWork) {
  Feed feed(threaded_setup(nullptr));
  {
    const RefusedThreads refused(1);
    expect_start_error([&] { feed.set_num_workers(4); });
  }
  EXPECT_EQ(feed.num_workers(), 3U);
  while (feed.next()) {
  }
  feed.set_num_workers(4);
  EXPECT_EQ(feed.num_workers(), 4U);
  while (feed.next()) {
  }
}

TEST(FeedThreadTest, ATunerThatCannotDoWhatItDecidedEndsAlone) {
  const auto lines = std::make_shared<LogLines>();
  set_log_sink(lines);
  FakeClock clock;
  std::atomic<std::uint64_t> delivered{0};
  {
    const Tuner tuner(
        {.count =
             [&] {
               return TunerCounts{delivered.load(), static_cast<double>(clock.now().count()) * 1e-9,
                                  0};
             },
         .apply = [](const TunerKnobs&) { raise({.code = &kThreadStart, .found = "planted"}); }},
        {.start = {{1, 4, 16}}, .limits = {{{4, 4, 16}}, 4}, .num_cores = 4, .clock = &clock});
    for (int i = 0; i < 5000 && lines->lines().empty(); ++i) {
      delivered += 100;
      clock.advance(std::chrono::milliseconds(250));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  set_log_sink(nullptr);
  ASSERT_EQ(lines->lines().size(), 1U);
  EXPECT_NE(lines->lines()[0].find("the tuner ends"), std::string::npos) << lines->lines()[0];
}

// Several feeds in a process divide the cores; a number of workers that was set stays.
TEST(FeedThreadTest, AShareOfTheCoresBoundsTheWorkers) {
  const unsigned cores = count_cpus().allowed;
  FeedSetup setup = synthetic_setup(std::make_shared<SyntheticSource>(speech_like_rows(60)));
  setup.loading.num_workers = 2;
  Feed set(setup);
  set.set_core_share(1);
  EXPECT_EQ(set.num_workers(), 2U);
  setup.loading.tuned_cores = cores;
  Feed shared(setup);
  shared.set_core_share(1);
  EXPECT_EQ(shared.num_workers(), 1U);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(shared.next());
  shared.set_core_share(cores);
  EXPECT_EQ(shared.num_workers(), workers_beside_consumer(cores));
}

}  // namespace
}  // namespace stoker::feed
