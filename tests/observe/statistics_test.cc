// Figures of known measurements.
#include "stoker/observe/statistics.h"

#include <gtest/gtest.h>

#include <vector>

namespace stoker::observe {
namespace {

TEST(AverageTest, NothingMeasuredIsZero) {
  EXPECT_EQ(median_of({}), 0);
  EXPECT_EQ(mean_of({}), 0);
}

TEST(AverageTest, TheMedianIsNotMovedByAnOutlierAndTheMeanIs) {
  EXPECT_DOUBLE_EQ(median_of({2, 1, 300}), 2);
  EXPECT_DOUBLE_EQ(mean_of({2, 1, 300}), 101);
}

TEST(MedianRangeTest, FewValuesSayNoMoreThanTheirRange) {
  EXPECT_EQ(median_range({}).high, 0);
  const MedianRange few = median_range({3, 1, 2});
  EXPECT_DOUBLE_EQ(few.low, 1);
  EXPECT_DOUBLE_EQ(few.high, 3);
}

// Of 100 values the 40th and the 61st, as tables of the sign test have it.
TEST(MedianRangeTest, ManyValuesNarrowItWhateverTheLargestAre) {
  std::vector<double> values;
  for (int i = 100; i >= 1; --i) values.push_back(i > 90 ? 1e9 * i : i);
  const MedianRange found = median_range(values);
  EXPECT_DOUBLE_EQ(found.low, 40);
  EXPECT_DOUBLE_EQ(found.high, 61);
}

TEST(IntervalStatisticsTest, NothingGivesZeros) {
  const IntervalStatistics none = summarize_intervals({});
  EXPECT_EQ(none.num_intervals, 0U);
  EXPECT_EQ(none.cv(), 0.0);
  EXPECT_EQ(none.p99_over_p50(), 0.0);
}

TEST(IntervalStatisticsTest, AMetronomeHasNoVariation) {
  const std::vector<double> even(100, 0.002);
  const IntervalStatistics found = summarize_intervals(even);
  EXPECT_DOUBLE_EQ(found.mean_ms, 2.0);
  EXPECT_NEAR(found.cv(), 0.0, 1e-12);
  EXPECT_DOUBLE_EQ(found.p99_over_p50(), 1.0);
}

TEST(IntervalStatisticsTest, QuantilesAreValuesThatOccurred) {
  std::vector<double> values;
  for (int i = 100; i >= 1; --i) values.push_back(i * 1e-3);
  const IntervalStatistics found = summarize_intervals(values);
  EXPECT_DOUBLE_EQ(found.p50_ms, 50.0);
  EXPECT_DOUBLE_EQ(found.p99_ms, 99.0);
  EXPECT_DOUBLE_EQ(found.min_ms, 1.0);
  EXPECT_DOUBLE_EQ(found.max_ms, 100.0);
  EXPECT_NEAR(found.mean_ms, 50.5, 1e-9);
  EXPECT_NEAR(found.std_ms, 28.866, 1e-3);
}

}  // namespace
}  // namespace stoker::observe
