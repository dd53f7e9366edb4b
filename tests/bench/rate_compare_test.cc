#include "stoker/bench/rate_compare.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stoker/base/error.h"
#include "stoker/bench/errors.h"

namespace stoker::bench {
namespace {

Json row_of(const std::string& change, double rate, std::vector<double> windows = {}) {
  return {{"loader", "native"},
          {"path", "cached"},
          {"changed", std::vector<std::string>{change}},
          {"median_clips_per_s", rate},
          {"windows_clips_per_s", windows}};
}

TEST(RateCompareTest, TheFastestIsFirstAndItsEqualsAreMarked) {
  const std::vector<Json> rows{row_of("a=1", 100, {99, 100, 101}),
                               row_of("a=2", 205, {200, 205, 210}),
                               row_of("a=3", 200, {196, 200, 204}), row_of("a=4", 0)};
  const std::vector<RankedRate> ranking = rank_rates(rows, kFeedRate);
  ASSERT_EQ(ranking.size(), 3U) << "a row without a rate has no place";
  EXPECT_EQ(ranking[0].name, "native cached a=2");
  EXPECT_EQ(ranking[0].index, 1U);
  EXPECT_EQ(ranking[1].index, 2U);
  EXPECT_TRUE(ranking[1].may_be_best) << "the ranges of both meet";
  EXPECT_FALSE(ranking[2].may_be_best);
  // Three windows: 4.3 standard errors of the mean.
  EXPECT_NEAR(ranking[2].plus_minus, 4.3 * 1.0 / std::sqrt(3.0), 1e-9);
}

TEST(RateCompareTest, DifferenceHasARangeFromThePartsOfBothWindows) {
  const Json kept{{"rows", std::vector<Json>{row_of("b=1", 5), row_of("a=1", 1000)}}};
  const Json now = row_of("a=1", 1100, {1090, 1100, 1110});
  const auto found = compare_rates({now}, {kept, "kept.json"}, kFeedRate);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_DOUBLE_EQ(found[0].ratio, 1.1);
  const double range = 4.3 * 10 / std::sqrt(3.0) / 1100;
  EXPECT_NEAR(found[0].low, 1.1 * (1 - range), 1e-9);
  EXPECT_NEAR(found[0].high, 1.1 * (1 + range), 1e-9);
}

TEST(RateCompareTest, ReportOfSomethingElseIsRefusedByItsName) {
  const std::vector<Json> rows{row_of("a=1", 1)};
  for (const Json& kept : {Json::object(), Json{{"rows", Json::array()}}, Json{{"rows", 3}}}) {
    try {
      check_kept(rows, {kept, "kept.json"});
      FAIL() << kept.dump();
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.error().code, &kBenchChoice);
      EXPECT_EQ(failure.error().place.file, "kept.json");
    }
  }
  const Json kept{{"rows", rows}};
  EXPECT_NO_THROW(check_kept(rows, {kept, "kept.json"}));
}

}  // namespace
}  // namespace stoker::bench
