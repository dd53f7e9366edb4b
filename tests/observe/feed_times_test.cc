// Where a feed's time went, from two looks at its counters.
#include "stoker/observe/feed_times.h"

#include <gtest/gtest.h>

namespace stoker::observe {
namespace {

FeedLook look(double at_s, double plan_s, double fetch_s) {
  FeedLook look{.stats = {}, .at_s = at_s, .num_workers = 4};
  look.stats.pipeline.stages = {{"plan", plan_s}, {"fetch", fetch_s}};
  return look;
}

TEST(FeedTimesTest, WorkersShareTheTimeBetweenTwoLooks) {
  const FeedTimes times = times_between(look(10, 1, 5), look(12, 1.8, 11.4));
  ASSERT_EQ(times.worker_stages.size(), 2U);
  EXPECT_EQ(times.worker_stages[1].name, "fetch");
  EXPECT_NEAR(times.worker_stages[0].share, 0.1, 1e-12);
  EXPECT_NEAR(times.worker_stages[1].share, 0.8, 1e-12);
  EXPECT_NEAR(times.worker_busy_share(), 0.9, 1e-12);
  EXPECT_FALSE(times.device_thread) << "no GPU, no such thread";
}

TEST(FeedTimesTest, TheThreadToTheGpuHasItsOwnShares) {
  FeedLook before = look(1, 0, 0), after = look(3, 0, 0);
  before.stats.ring = feed::RingStats{.producer_wait_s = 0.5};
  before.stats.upload = feed::UploadStats{100, 0.01, 0.2};
  after.stats.ring = feed::RingStats{.producer_wait_s = 0.7};
  after.stats.upload = feed::UploadStats{1100, 0.03, 1.2};
  after.stats.pipeline.consumer_wait_s = 0.6;
  const auto thread = times_between(before, after).device_thread;
  ASSERT_TRUE(thread);
  EXPECT_NEAR(thread->share("waits_for_workers"), 0.3, 1e-12);
  EXPECT_NEAR(thread->share("waits_for_slot"), 0.1, 1e-12);
  EXPECT_NEAR(thread->share("waits_for_copy"), 0.5, 1e-12);
  EXPECT_NEAR(thread->share("launches"), 0.01, 1e-12);
  EXPECT_EQ(thread->share("naps"), 0);
  EXPECT_NEAR(thread->launch_us_per_batch, 20, 1e-9);
}

}  // namespace
}  // namespace stoker::observe
