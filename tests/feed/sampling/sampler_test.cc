// The order as a pure function: every row once, any rank count, any corner of the settings.
#include "stoker/feed/sampling/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "stoker/feed/errors.h"
#include "tests/feed/sampling/speech_lengths.h"

namespace stoker::feed {
namespace {

std::map<std::uint32_t, int> times_seen(const EpochPlan& plan) {
  std::map<std::uint32_t, int> seen;
  for (const PlannedBatch& batch : plan.batches) {
    for (const std::uint32_t row : plan.view_rows(batch)) ++seen[row];
  }
  return seen;
}

void expect_every_row_fits(const Sampler& order, const EpochPlan& plan) {
  for (const PlannedBatch& batch : plan.batches) {
    const BatchShape& shape = order.shapes()[batch.shape_index];
    EXPECT_LE(batch.num_rows, shape.num_rows);
    EXPECT_EQ(shape.num_frames % 8, 0U);
    EXPECT_EQ(shape.num_tokens % 8, 0U);
    for (const std::uint32_t row : plan.view_rows(batch)) {
      EXPECT_LE(order.rows()[row].num_frames, shape.num_frames);
      EXPECT_LE(order.rows()[row].num_tokens, shape.num_tokens);
    }
  }
}

struct OrderCase {
  const char* name;
  std::size_t num_rows;
  SamplerSettings settings;
};

class OrderCaseTest : public testing::TestWithParam<OrderCase> {};

TEST_P(OrderCaseTest, EveryRowComesExactlyOnceAndFits) {
  const Sampler order(speech_like_rows(GetParam().num_rows), GetParam().settings);
  EpochPlan plan;
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    order.plan_epoch(epoch, plan);
    const auto seen = times_seen(plan);
    EXPECT_EQ(seen.size(), GetParam().num_rows);
    for (const auto& [row, times] : seen) EXPECT_EQ(times, 1) << "row " << row;
    expect_every_row_fits(order, plan);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Settings, OrderCaseTest,
    testing::Values(OrderCase{"Defaults", 2000, {}}, OrderCase{"OneRow", 1, {}},
                    OrderCase{"BatchLargerThanData", 5, {.batch_size = 64}},
                    OrderCase{"BucketsSmallerThanABatch", 40, {.batch_size = 16}},
                    OrderCase{"OneShape", 300, {.static_shapes = true}},
                    OrderCase{"OneRowABatch", 50, {.batch_size = 1}},
                    OrderCase{"Multiple24", 2000, {.batch_multiple = 24}},
                    OrderCase{"FramesBelowOneRow", 50, {.batch_frames = 8}},
                    OrderCase{"FileOrder", 500, {.batch_size = 32, .shuffle = false}},
                    OrderCase{"FileOrderByFrames", 500, {.shuffle = false}}),
    [](const auto& each) { return each.param.name; });

TEST(OrderTest, SameInputsGiveTheSameOrderAndAnotherEpochOrSeedAnother) {
  const auto rows = speech_like_rows(500);
  const Sampler a(rows, {}), b(rows, {}), other_seed(rows, {.seed = 43});
  EpochPlan of_a, of_b, of_other, of_next;
  a.plan_epoch(3, of_a);
  b.plan_epoch(7, of_b);  // planning another epoch in between changes nothing
  b.plan_epoch(3, of_b);
  other_seed.plan_epoch(3, of_other);
  a.plan_epoch(4, of_next);
  EXPECT_EQ(of_a.rows, of_b.rows);
  EXPECT_NE(of_a.rows, of_other.rows);
  EXPECT_NE(of_a.rows, of_next.rows);
}

TEST(OrderTest, WithoutShuffleRowsComeInFileOrder) {
  const Sampler order(speech_like_rows(300), {.batch_size = 16, .shuffle = false});
  EpochPlan plan;
  order.plan_epoch(5, plan);
  std::uint32_t next = 0;
  for (const PlannedBatch& batch : plan.batches) {
    for (const std::uint32_t row : plan.view_rows(batch)) EXPECT_EQ(row, next++);
  }
  EXPECT_EQ(next, 300U);
}

TEST(OrderTest, DropLastLeavesOutOnlyRowsThatFillNoBatch) {
  const Sampler order(speech_like_rows(100), {.batch_size = 16, .drop_last = true});
  EpochPlan plan;
  order.plan_epoch(0, plan);
  EXPECT_EQ(plan.batches.size(), 6U);
  EXPECT_EQ(times_seen(plan).size(), 96U);
}

TEST(OrderTest, EveryWorldSizeSeesTheSameGlobalSequence) {
  const Sampler order(speech_like_rows(1000), {.batch_multiple = 24});
  EpochPlan plan;
  order.plan_epoch(1, plan);
  for (const std::uint32_t world : {1U, 2U, 3U, 4U, 8U}) {
    for (const PlannedBatch& batch : plan.batches) {
      std::vector<bool> taken(order.shapes()[batch.shape_index].num_rows);
      for (std::uint32_t rank = 0; rank < world; ++rank) {
        const RankRows ranks{rank, world};
        check_ranks(ranks, 24);
        const auto num_rows = static_cast<std::uint32_t>(taken.size());
        EXPECT_EQ(ranks.num_rows(num_rows) * world, num_rows);
        for (std::uint32_t i = 0; i < ranks.num_rows(num_rows); ++i) {
          EXPECT_FALSE(taken[ranks.place_in_batch(i)]);
          taken[ranks.place_in_batch(i)] = true;
        }
      }
      EXPECT_TRUE(std::all_of(taken.begin(), taken.end(), [](bool row) { return row; }));
    }
  }
}

TEST(OrderTest, WeightsArePassesAnEpoch) {
  auto rows = speech_like_rows(400);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].source = i < 100 ? 0 : i < 200 ? 1 : 2;
  const Sampler order(rows, {.batch_size = 8, .source_weights = {2.0, 0.25, 1.0}});
  EpochPlan plan;
  std::map<std::uint32_t, int> total;
  for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
    order.plan_epoch(epoch, plan);
    expect_every_row_fits(order, plan);
    EXPECT_EQ(plan.rows.size(), 200U + 25U + 200U);
    for (const auto& [row, times] : times_seen(plan)) total[row] += times;
  }
  for (std::uint32_t row = 0; row < 400; ++row) {
    EXPECT_EQ(total[row], row < 100 ? 8 : row < 200 ? 1 : 4) << "row " << row;
  }
}

TEST(OrderTest, PackedBinsHoldTheirRowsAndRanksTakeWholeBins) {
  const Sampler order(speech_like_rows(1500),
                      {.batch_multiple = 4, .layout = BatchLayout::kPacked});
  ASSERT_EQ(order.shapes().size(), 1U);
  const BatchShape shape = order.shapes()[0];
  EpochPlan plan;
  order.plan_epoch(2, plan);
  EXPECT_EQ(times_seen(plan).size(), 1500U);
  EXPECT_EQ((plan.bin_begins.size() - 1) % 4, 0U);
  for (std::size_t bin = 0; bin + 1 < plan.bin_begins.size(); ++bin) {
    std::uint32_t frames = 0, tokens = 0;
    for (std::uint32_t i = plan.bin_begins[bin]; i < plan.bin_begins[bin + 1]; ++i) {
      frames += order.rows()[plan.rows[i]].num_frames;
      tokens += order.rows()[plan.rows[i]].num_tokens;
    }
    EXPECT_LE(frames, shape.num_frames);
    EXPECT_LE(tokens, shape.num_tokens);
  }
}

struct RefusedCase {
  const char* name;
  SamplerSettings settings;
  const ErrorCode* code;
};

class OrderRefusesTest : public testing::TestWithParam<RefusedCase> {};

TEST_P(OrderRefusesTest, NamesTheRule) {
  try {
    const Sampler order(speech_like_rows(20), GetParam().settings);
    FAIL() << "accepted";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, GetParam().code);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Settings, OrderRefusesTest,
    testing::Values(RefusedCase{"NoSize", {.batch_frames = 0}, &kFeedShape},
                    RefusedCase{"NoMultiple", {.batch_multiple = 0}, &kFeedShape},
                    RefusedCase{"NoShapes", {.max_shapes = 0}, &kFeedShape},
                    RefusedCase{"NegativeWeight", {.source_weights = {-1.0}}, &kFeedShape},
                    RefusedCase{"NothingLeft", {.source_weights = {0.0}}, &kFeedEmpty},
                    RefusedCase{"PackedBinTooSmall",
                                {.batch_frames = 400, .layout = BatchLayout::kPacked},
                                &kFeedShape}),
    [](const auto& each) { return each.param.name; });

TEST(OrderTest, RanksThatDoNotDivideTheBatchAreRefused) {
  EXPECT_THROW(check_ranks({3, 3}, 24), ConfigError);
  EXPECT_THROW(check_ranks({0, 5}, 24), ConfigError);
  EXPECT_THROW(check_ranks({0, 0}, 24), ConfigError);
  EXPECT_NO_THROW(check_ranks({7, 8}, 24));
}

}  // namespace
}  // namespace stoker::feed
