// Padding, shuffle quality and scale of the order, on lengths like LJSpeech's.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <map>
#include <numeric>

#include "stoker/base/clock.h"
#include "stoker/feed/sampling/sampler.h"
#include "tests/feed/sampling/speech_lengths.h"

namespace stoker::feed {
namespace {

constexpr std::size_t kLjspeechRows = 13'100;

double lag_one_correlation(const Sampler& order, const EpochPlan& plan) {
  const std::size_t pairs = plan.batches.size() - 1;
  double sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    const double x = order.shapes()[plan.batches[i].shape_index].num_frames;
    const double y = order.shapes()[plan.batches[i + 1].shape_index].num_frames;
    sx += x, sy += y, sxx += x * x, syy += y * y, sxy += x * y;
  }
  const auto n = static_cast<double>(pairs);
  return (sxy - sx * sy / n) / std::sqrt((sxx - sx * sx / n) * (syy - sy * sy / n));
}

TEST(OrderQualityTest, LengthsAreLikeLjspeech) {
  const auto rows = speech_like_rows(kLjspeechRows);
  double frames = 0;
  for (const SampledUtterance& row : rows) frames += row.num_frames;
  EXPECT_NEAR(frames / kLjspeechRows, 566, 12);
}

TEST(OrderQualityTest, PaddingIsAtMostTwoPercentWithFortyEightShapes) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Sampler order(speech_like_rows(kLjspeechRows, seed), {});
    EXPECT_LE(order.shapes().size(), 48U);
    EpochPlan plan;
    order.plan_epoch(0, plan);
    EXPECT_LE(order.padding_share(plan), 0.020) << "lengths " << seed;
  }
}

TEST(OrderQualityTest, PackedWastesAtMostHalfAPercent) {
  for (const std::uint32_t multiple : {1U, 4U}) {
    const Sampler order(speech_like_rows(kLjspeechRows),
                        {.batch_multiple = multiple, .layout = BatchLayout::kPacked});
    EpochPlan plan;
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
      order.plan_epoch(epoch, plan);
      EXPECT_LE(order.padding_share(plan), 0.005) << "batch_multiple " << multiple;
      EXPECT_EQ(std::accumulate(plan.rows.begin(), plan.rows.end(), std::uint64_t{0}),
                kLjspeechRows * (kLjspeechRows - 1) / 2);
    }
  }
}

TEST(OrderQualityTest, LengthsOfNeighbouringBatchesAreUncorrelatedInEveryEpoch) {
  const Sampler order(speech_like_rows(kLjspeechRows), {});
  EpochPlan plan;
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
    order.plan_epoch(epoch, plan);
    EXPECT_LE(std::abs(lag_one_correlation(order, plan)), 0.05) << "epoch " << epoch;
  }
}

// Pairs that share a batch in both epochs, against what chance gives: inside a bucket of m batches
// two rows that were together meet again with probability (B - 1) / (n - 1).
TEST(OrderQualityTest, RowsMeetAgainAsOftenAsChanceInsideABucket) {
  const Sampler order(speech_like_rows(kLjspeechRows), {.max_shapes = 8});
  double together = 0;
  double expected = 0;
  EpochPlan first, second;
  for (std::uint64_t epoch = 0; epoch < 10; epoch += 2) {
    order.plan_epoch(epoch, first);
    order.plan_epoch(epoch + 1, second);
    std::vector<std::uint32_t> batch_in_second(kLjspeechRows);
    std::vector<std::uint32_t> bucket_in_second(kLjspeechRows);
    std::map<std::uint32_t, double> bucket_rows;
    for (std::uint32_t k = 0; k < second.batches.size(); ++k) {
      bucket_rows[second.batches[k].shape_index] += second.batches[k].num_rows;
      for (const std::uint32_t row : second.view_rows(second.batches[k])) {
        batch_in_second[row] = k;
        bucket_in_second[row] = second.batches[k].shape_index;
      }
    }
    for (const PlannedBatch& batch : first.batches) {
      const auto rows = first.view_rows(batch);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t j = i + 1; j < rows.size(); ++j) {
          together += batch_in_second[rows[i]] == batch_in_second[rows[j]] ? 1 : 0;
          if (bucket_in_second[rows[i]] != bucket_in_second[rows[j]]) continue;
          const std::uint32_t bucket = bucket_in_second[rows[i]];
          expected += (order.shapes()[bucket].num_rows - 1.0) / (bucket_rows[bucket] - 1.0);
        }
      }
    }
  }
  EXPECT_NEAR(together / expected, 1.0, 0.05);
}

TEST(OrderQualityTest, FiveMillionRowsOnSixtyFourRanksAreQuickAndExactlyOnce) {
  constexpr std::uint32_t kRows = 5'000'000;
  constexpr std::uint32_t kWorld = 64;
  const Stopwatch watch;
  const Sampler order(speech_like_rows(kRows), {.batch_frames = 400'000, .batch_multiple = kWorld});
  EpochPlan plan;
  order.plan_epoch(0, plan);
  std::vector<std::uint8_t> seen(kRows);
  for (std::uint32_t rank = 0; rank < kWorld; ++rank) {
    const RankRows ranks{rank, kWorld};
    for (const PlannedBatch& batch : plan.batches) {
      const std::uint32_t batch_rows = order.shapes()[batch.shape_index].num_rows;
      ASSERT_EQ(batch_rows % kWorld, 0U);
      for (std::uint32_t i = 0; i < ranks.num_rows(batch_rows); ++i) {
        const std::uint32_t place = ranks.place_in_batch(i);
        if (place < batch.num_rows) ++seen[plan.view_rows(batch)[place]];
      }
    }
  }
  for (const std::uint8_t times : seen) ASSERT_EQ(times, 1);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  EXPECT_LT(watch.seconds(), 60.0);
  EXPECT_LT(usage.ru_maxrss, 2'000'000) << "kilobytes";
  RecordProperty("seconds", std::to_string(watch.seconds()));
  RecordProperty("peak_kilobytes", std::to_string(usage.ru_maxrss));
}

}  // namespace
}  // namespace stoker::feed
