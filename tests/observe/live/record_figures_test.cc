// From planted records to the figures of a view: rates, stalls, gaps, verdicts, and totals that
// only rise.
#include "stoker/observe/live/record_figures.h"

#include <gtest/gtest.h>

#include "tests/observe/diagnose/planted_evidence.h"

namespace stoker::observe {
namespace {

using std::chrono::nanoseconds;

nanoseconds handed(const feed::BatchRecord& record) { return nanoseconds(record.handed_ns); }

TEST(RecordFiguresTest, AHealthyFeedHasItsRateAndNoStall) {
  const std::vector<feed::BatchRecord> records = plant({}).watch.records;
  RecordFigures figures;
  figures.begin_feed(0);
  figures.add({records.begin(), records.begin() + 120}, 0);
  LiveFeed feed;
  figures.put(handed(records[0]), handed(records[119]), feed);
  figures.add({records.begin() + 120, records.end()}, 0);
  feed = {};
  figures.put(handed(records[119]), handed(records.back()), feed);
  EXPECT_NEAR(feed.batches_per_s, 200, 10);
  EXPECT_NEAR(feed.clips_per_s, 16 * feed.batches_per_s, 1);
  EXPECT_NEAR(feed.frames_per_s, 8000 * feed.batches_per_s, 1);
  EXPECT_LT(feed.stall_share.value_or(1), 0.02);
  EXPECT_NEAR(feed.step_ms, 5, 0.1);
  EXPECT_NEAR(feed.interval_ms, 5, 0.2);
  EXPECT_EQ(feed.num_workers, 2U);
  EXPECT_NEAR(feed.stage_shares[static_cast<std::size_t>(feed::RecordStage::kMel)], 3.2 / 4.02,
              0.01);
  EXPECT_EQ(feed.verdict, LoopVerdict::kHealthy);
  EXPECT_NE(feed.verdict_sentence.find("not your bottleneck"), std::string::npos);
  EXPECT_EQ(feed.totals.batches, 240U);
  EXPECT_EQ(feed.totals.clips, 240U * 16);
}

TEST(RecordFiguresTest, AStarvedConsumerIsSeenWithItsStage) {
  PlantedRun run;
  run.change = [](std::size_t, PlantedBatch& batch) { batch.cpu(feed::RecordStage::kMel) = 40e-3; };
  const std::vector<feed::BatchRecord> records = plant(run).watch.records;
  RecordFigures figures;
  figures.begin_feed(0);
  figures.add(records, 0);
  LiveFeed feed;
  figures.put(handed(records[0]), handed(records.back()), feed);
  EXPECT_GT(feed.stall_share.value_or(0), 0.5);
  EXPECT_GT(feed.stall_share_total.value_or(0), 0.5);
  EXPECT_EQ(feed.verdict, LoopVerdict::kStarved);
  EXPECT_GT(feed.worker_busy_share, 0.9);
}

TEST(RecordFiguresTest, GapsNameTheirFileTheLatestFirst) {
  PlantedRun run;
  run.change = [](std::size_t i, PlantedBatch& batch) {
    if (i != 60 && i != 200) return;
    batch.cpu(feed::RecordStage::kDecode) = 0.4;
    batch.slowest_s = 0.4;
    batch.slowest_stage = feed::RecordStage::kDecode;
    batch.slowest_file = i == 60 ? "wavs/first.wav" : "wavs/second.wav";
  };
  const std::vector<feed::BatchRecord> records = plant(run).watch.records;
  RecordFigures figures;
  figures.begin_feed(0);
  figures.add(records, 0);
  LiveFeed feed;
  figures.put(handed(records[0]), handed(records.back()) + std::chrono::seconds(3), feed);
  std::vector<std::string> files;
  for (const LiveGap& gap : feed.gaps)
    if (!gap.file.empty() && (files.empty() || files.back() != gap.file)) files.push_back(gap.file);
  ASSERT_GE(files.size(), 2U);
  EXPECT_EQ(files[0], "wavs/second.wav");
  EXPECT_EQ(files[1], "wavs/first.wav");
  EXPECT_EQ(feed.gaps[0].stage, "decode");
  EXPECT_GT(feed.gaps[0].ago_s, 3);
  EXPECT_NEAR(feed.since_batch_s.value_or(0), 3, 0.01);
}

// A view that comes late counts what it cannot see, and rates are of the interval alone.
TEST(RecordFiguresTest, LostBatchesCountInTotalsAndRates) {
  const std::vector<feed::BatchRecord> records = plant({}).watch.records;
  RecordFigures figures;
  figures.begin_feed(1000);
  figures.add({records.begin(), records.begin() + 100}, 0);
  LiveFeed feed;
  figures.put(handed(records[99]), handed(records[99]), feed);
  EXPECT_EQ(feed.totals.batches, 1100U);
  EXPECT_EQ(feed.totals.records_lost, 0U);
  figures.add({records.begin() + 200, records.end()}, 100);
  feed = {};
  figures.put(handed(records[99]), handed(records[99]) + std::chrono::seconds(1), feed);
  EXPECT_EQ(feed.totals.batches, 1240U);
  EXPECT_EQ(feed.totals.records_lost, 100U);
  EXPECT_NEAR(feed.batches_per_s, 140, 0.1);
  EXPECT_NEAR(feed.clips_per_s, 140 * 16, 1);
}

TEST(RecordFiguresTest, SlowBatchesHaveARateBetweenTwoLooks) {
  PlantedRun run;
  run.num_batches = 20;
  run.change = [](std::size_t, PlantedBatch& batch) { batch.step_s = 0.8; };
  const std::vector<feed::BatchRecord> records = plant(run).watch.records;
  RecordFigures figures;
  figures.begin_feed(0);
  figures.add(records, 0);
  LiveFeed feed;
  const nanoseconds now = handed(records.back()) + std::chrono::milliseconds(600);
  figures.put(now - std::chrono::milliseconds(500), now, feed);
  EXPECT_NEAR(feed.batches_per_s, 1.25, 0.2);
}

TEST(RecordFiguresTest, TotalsGoOnWithAnotherFeed) {
  const std::vector<feed::BatchRecord> records = plant({}).watch.records;
  RecordFigures figures;
  figures.begin_feed(0);
  figures.add(records, 0);
  figures.begin_feed(0);
  LiveFeed feed;
  figures.put(nanoseconds(0), nanoseconds(1), feed);
  EXPECT_EQ(feed.totals.batches, 240U);
  EXPECT_EQ(feed.verdict, LoopVerdict::kUnknown);
  EXPECT_EQ(feed.stall_share_total, std::nullopt);
}

}  // namespace
}  // namespace stoker::observe
