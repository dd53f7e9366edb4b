// The consumer's side of the records, and how they live with the feed: off, sought, of a run.
#include "stoker/feed/records/batch_recorder.h"

#include <gtest/gtest.h>

#include <ctime>

#include "stoker/feed/feed.h"
#include "stoker/feed/open_feed.h"
#include "stoker/feed/records/thread_use.h"
#include "tests/feed/small_data_set.h"
#include "tests/feed/synthetic_source.h"

namespace stoker::feed {
namespace {

using std::chrono::nanoseconds;

std::vector<BatchRecord> all_records(const Feed& feed) {
  std::vector<BatchRecord> records;
  EXPECT_EQ(feed.records()->read_since(0, records)->num_lost, 0U);
  return records;
}

// Steps of two milliseconds of work: the thread's own time is known each time.
TEST(FeedRecordsTest, KnowTheConsumersProcessorTime) {
  FeedSetup setup = synthetic_setup(std::make_shared<SyntheticSource>(speech_like_rows(200)));
  Feed feed(std::move(setup));
  for (int step = 0; step < 20; ++step) {
    const std::optional<Batch> batch = feed.next();
    const nanoseconds end = system_clock().now() + std::chrono::milliseconds(2);
    while (system_clock().now() < end) {
    }
  }
  const std::vector<BatchRecord> records = all_records(feed);
  int num_known = 0;
  for (std::size_t i = 1; i < records.size(); ++i) {
    if (records[i].consumer_cpu_ns < 0) continue;
    ++num_known;
    EXPECT_LE(records[i].consumer_cpu_ns, records[i].handed_ns - records[i - 1].handed_ns + 50'000);
  }
  EXPECT_GE(num_known, 15);
}

// All readings together are the time of the thread; one that is too soon is left out.
TEST(ThreadUseTest, ReadsAtMostOnceAMillisecondAndLosesNothing) {
  ThreadUse use;
  use.begin(false);
  BatchRecord first, second, third;
  const auto cpu_ns = [] {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
  };
  use.finish(10'000'000, first);
  const std::int64_t worked_ns = 2'000'000, begun_ns = cpu_ns();
  while (cpu_ns() < begun_ns + worked_ns) {
  }
  use.finish(10'500'000, second);
  use.finish(11'000'000, third);
  EXPECT_GE(first.worker_cpu_ns, 0);
  EXPECT_EQ(second.worker_cpu_ns, -1);
  EXPECT_GE(third.worker_cpu_ns, worked_ns - 2000);  // of two numbers, each cut to microseconds
}

TEST(FeedRecordsTest, CanBeOff) {
  FeedSetup setup = synthetic_setup(std::make_shared<SyntheticSource>(speech_like_rows(60)));
  setup.records.is_on = false;
  Feed feed(std::move(setup));
  ASSERT_TRUE(feed.next());
  feed.note(ConsumerWork::kOther, nanoseconds(1));
  EXPECT_FALSE(feed.records());
}

TEST(FeedRecordsTest, CountsSurviveASeek) {
  Feed feed(synthetic_setup(std::make_shared<SyntheticSource>(speech_like_rows(60))));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(feed.next());
  const FeedStats before = feed.stats();
  feed.seek({0, 0});
  ASSERT_TRUE(feed.next());
  const FeedStats after = feed.stats();
  EXPECT_EQ(after.pipeline.num_delivered, 6U);
  for (std::size_t i = 0; i < kNumStages; ++i)
    EXPECT_GE(after.pipeline.stages[i].busy_s, before.pipeline.stages[i].busy_s);
  EXPECT_EQ(feed.records()->num_written().take_or_raise(), 6U);
}

TEST(FeedRecordsTest, ARunsRecordsAreInItsFolder) {
  SmallDataSet data(12);
  const ScratchFolder run;
  data.settings().loader.preprocessing_mode = config::PreprocessingMode::kRuntime;
  {
    OpenedFeed opened = open_feed(data.settings(), {.record_folder = run.path()});
    ASSERT_TRUE(opened.feed.next());
    EXPECT_EQ(opened.feed.records()->path(), run / "records.ring");
  }
  const RecordReader reader = RecordReader::open(run / "records.ring").take_or_raise();
  EXPECT_TRUE(*reader.has_ended());
  EXPECT_EQ(*reader.num_written(), 1U);
}

}  // namespace
}  // namespace stoker::feed
