// Padding told before a run, and the utterances that cost it.
#include "stoker/feed/sampling/expected_padding.h"

#include <gtest/gtest.h>

#include "stoker/feed/sampling/sampler.h"
#include "tests/feed/sampling/speech_lengths.h"

namespace stoker::feed {
namespace {

TEST(ExpectedPaddingTest, IsThatOfThePlannedEpochAndBlamesNoOrdinaryUtterance) {
  const std::vector<SampledUtterance> rows = speech_like_rows(3'000);
  const Sampler order(rows, {});
  EpochPlan plan;
  order.plan_epoch(0, plan);
  const ExpectedPadding expected = expect_padding(rows, {});
  EXPECT_DOUBLE_EQ(expected.share, order.padding_share(plan));
  EXPECT_EQ(expected.num_shapes, order.shapes().size());
  EXPECT_EQ(expected.num_batches, plan.batches.size());
  EXPECT_TRUE(expected.costly.empty());
  EXPECT_FALSE(expected.max_mel_frames);
}

TEST(ExpectedPaddingTest, NamesLongUtterancesAndTheLimitThatLeavesThemOut) {
  std::vector<SampledUtterance> rows = speech_like_rows(400);
  std::uint32_t longest = 0;
  for (const SampledUtterance& row : rows) longest = std::max(longest, row.num_frames);
  rows[17].num_frames = 60'000;
  rows[9].num_frames = 51'680;
  for (const std::uint32_t multiple : {1U, 4U}) {
    const ExpectedPadding expected = expect_padding(rows, {.batch_multiple = multiple});
    ASSERT_EQ(expected.costly.size(), 2U) << multiple;
    EXPECT_EQ(expected.costly[0].row, 17U);
    EXPECT_EQ(expected.costly[1].row, 9U);
    EXPECT_TRUE(expected.costly[0].is_above_budget);
    EXPECT_LE(expected.max_mel_frames.value_or(0), longest);
    EXPECT_GE(expected.max_mel_frames.value_or(0), longest - 20);
  }
  // On four ranks three rows beside a long one are empty or nearly so.
  EXPECT_GT(expect_padding(rows, {.batch_multiple = 4}).share, 0.3);
  EXPECT_GT(expect_padding(rows, {.batch_multiple = 4}).costly[1].padding_share, 0.2);
}

TEST(ExpectedPaddingTest, OneShapeForAllBlamesTheLongest) {
  std::vector<SampledUtterance> rows = speech_like_rows(300);
  rows[200].num_frames = 8'000;
  const ExpectedPadding expected = expect_padding(rows, {.static_shapes = true});
  ASSERT_EQ(expected.costly.size(), 1U);
  EXPECT_EQ(expected.costly[0].row, 200U);
  EXPECT_FALSE(expected.costly[0].is_above_budget);
  EXPECT_GT(expected.costly[0].padding_share, 0.5);
}

TEST(ExpectedPaddingTest, OrdinaryRowsOfASmallSetAreNotBlamed) {
  EXPECT_TRUE(expect_padding({{90'000, 5, 0}}, {}).costly.empty());
  EXPECT_TRUE(expect_padding(speech_like_rows(2), {}).costly.empty());
  EXPECT_TRUE(expect_padding(speech_like_rows(18), {}).costly.empty());
  std::vector<SampledUtterance> short_ones(15, {200, 30, 0});
  short_ones.push_back({660, 80, 0});
  EXPECT_TRUE(expect_padding(short_ones, {}).costly.empty()) << "as long as speech often is";
  short_ones.push_back({2'000, 80, 0});
  EXPECT_EQ(expect_padding(short_ones, {}).costly.size(), 1U);
}

}  // namespace
}  // namespace stoker::feed
