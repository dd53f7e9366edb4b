// Shapes of small, uneven and ordinary sets: little padding, and no utterance widens the others'.
#include "stoker/feed/sampling/bucket_edges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "stoker/base/philox.h"
#include "stoker/data/voice/lengths.h"
#include "stoker/feed/sampling/sampler.h"

namespace stoker::feed {
namespace {

constexpr std::uint32_t kTenMinutes = 51'680;  // frames of 256 samples at 22,050 Hz

// What `stoker data make --lengths ljspeech --seed SEED` aims at, without the sound.
std::vector<SampledUtterance> made_rows(std::size_t num_rows, std::uint64_t seed = 9) {
  const data::voice::Lengths lengths{.kind = data::voice::LengthKind::kLjSpeech};
  std::vector<SampledUtterance> rows;
  for (std::size_t i = 0; i < num_rows; ++i) {
    KeyedDraws draws({.seed = seed, .stage = "voice-utterance", .item = i});
    const double length_s = data::voice::draw_length_s(lengths, draws).value_or(0);
    rows.push_back({static_cast<std::uint32_t>(length_s * 22050.0 / 256.0),
                    static_cast<std::uint32_t>(length_s * 14.0), 0});
  }
  return rows;
}

// Padding of the epoch's batches that hold no row of `long_frames` or more.
double padding_of_the_rest(const Sampler& order, std::uint32_t long_frames, std::uint64_t epoch) {
  EpochPlan plan;
  order.plan_epoch(epoch, plan);
  const auto is_long = [&](std::uint32_t row) {
    return order.rows()[row].num_frames >= long_frames;
  };
  std::erase_if(plan.batches, [&](const PlannedBatch& batch) {
    return std::ranges::any_of(plan.view_rows(batch), is_long);
  });
  return order.padding_share(plan);
}

double padding(const Sampler& order, std::uint64_t epoch = 0) {
  return padding_of_the_rest(order, ~0U, epoch);
}

struct PaddingCase {
  const char* name;
  std::size_t num_rows;
  double most_padding;
  std::uint64_t most_batches;  // an eighth more than the frames need without any padding
};

class BucketPaddingTest : public testing::TestWithParam<PaddingCase> {};

TEST_P(BucketPaddingTest, IsLittleInFewFullBatches) {
  const Sampler order(made_rows(GetParam().num_rows), {.batch_frames = 40'000});
  EpochPlan plan;
  order.plan_epoch(0, plan);
  EXPECT_LE(order.padding_share(plan), GetParam().most_padding);
  EXPECT_LE(plan.batches.size(), GetParam().most_batches);
  EXPECT_LE(order.shapes().size(), 48U);
  order.plan_epoch(5, plan);
  EXPECT_LE(order.padding_share(plan), GetParam().most_padding);
}

TEST_P(BucketPaddingTest, IsLittleForOtherLengthsAndRanks) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    for (const std::uint32_t multiple : {1U, 2U, 4U}) {
      const Sampler order(made_rows(GetParam().num_rows, seed), {.batch_multiple = multiple});
      // Batches of whole fours cannot be cut as finely.
      const double most = GetParam().most_padding + 0.005 * (multiple - 1);
      EXPECT_LE(padding(order), most) << "lengths " << seed << " multiple " << multiple;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Clips, BucketPaddingTest,
                         testing::Values(PaddingCase{"400", 400, 0.10, 7},
                                         PaddingCase{"2000", 2'000, 0.04, 32},
                                         PaddingCase{"13100", 13'100, 0.017, 210}),
                         [](const auto& each) { return std::string(each.param.name); });

struct LongCase {
  const char* name;
  std::size_t num_rows;
  SamplerSettings settings;
};

class LongUtteranceTest : public testing::TestWithParam<LongCase> {};

TEST_P(LongUtteranceTest, WidensNoOtherShape) {
  std::vector<SampledUtterance> rows = made_rows(GetParam().num_rows);
  const double before = padding(Sampler(rows, GetParam().settings));
  rows.insert(rows.begin() + 7, {kTenMinutes, 9'000, 0});
  const Sampler order(rows, GetParam().settings);
  EXPECT_LE(order.shapes().size(), 48U);
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch)
    EXPECT_NEAR(padding_of_the_rest(order, kTenMinutes, epoch), before, 0.01) << epoch;
  EpochPlan plan;
  order.plan_epoch(0, plan);
  for (const PlannedBatch& batch : plan.batches) {
    const BatchShape& shape = order.shapes()[batch.shape_index];
    if (shape.num_frames < kTenMinutes) continue;
    // The rows of the other ranks would be empty; a few others may take them.
    EXPECT_EQ(shape.num_rows, GetParam().settings.batch_multiple);
    EXPECT_LE(shape.num_frames, kTenMinutes * 101 / 100);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Settings, LongUtteranceTest,
    testing::Values(LongCase{"Among3000", 3'000, {}}, LongCase{"Among18", 18, {}},
                    LongCase{"Among400", 400, {}}, LongCase{"Among13100", 13'100, {}},
                    LongCase{"Among3000OnFourRanks", 3'000, {.batch_multiple = 4}},
                    LongCase{"Among400OnTwoRanks", 400, {.batch_multiple = 2}},
                    LongCase{"Among3000BySize", 3'000, {.batch_size = 32}},
                    LongCase{"Among18BySize", 18, {.batch_size = 16}},
                    LongCase{"Among18InSmallBatches", 18, {.batch_frames = 8'000}},
                    LongCase{"Among3000DropLast", 3'000, {.drop_last = true}},
                    LongCase{"Among18DropLast", 18, {.drop_last = true}}),
    [](const auto& each) { return each.param.name; });

TEST(BucketTest, SeveralLongUtterancesOfDifferentLengthsLeaveTheOthersAlone) {
  std::vector<SampledUtterance> rows = made_rows(3'000);
  const double before = padding(Sampler(rows, {}));
  for (const std::uint32_t frames : {5'000U, 9'000U, 20'000U, 30'000U, kTenMinutes})
    rows.push_back({frames, 900, 0});
  EXPECT_NEAR(padding_of_the_rest(Sampler(rows, {}), 5'000, 0), before, 0.01);
}

// Lengths that spread evenly over their orders of magnitude, with ties.
std::vector<SampledUtterance> uneven_rows(std::size_t num_rows, std::uint64_t seed) {
  KeyedDraws draws({seed, "test/uneven", 0, 0});
  std::vector<SampledUtterance> rows;
  for (std::size_t i = 0; i < num_rows; ++i) {
    const auto frames = static_cast<std::uint32_t>(std::exp(draws.next_between(2.0, 9.0)));
    rows.push_back({frames / 3 * 3 + 1, frames / 6 + 1, static_cast<std::uint32_t>(i % 2)});
  }
  return rows;
}

void expect_sound_plan(const Sampler& order, std::uint64_t epoch) {
  const SamplerSettings& settings = order.settings();
  EpochPlan plan;
  order.plan_epoch(epoch, plan);
  std::multiset<std::uint32_t> seen;
  for (const PlannedBatch& batch : plan.batches) {
    const BatchShape& shape = order.shapes()[batch.shape_index];
    EXPECT_EQ(shape.num_rows % settings.batch_multiple, 0U);
    EXPECT_GE(batch.num_rows, 1U);
    if (settings.batch_size > 0) {
      EXPECT_LE(shape.num_rows, settings.batch_size);
    } else if (shape.num_rows > settings.batch_multiple) {
      EXPECT_LE(shape.num_rows * shape.num_frames, settings.batch_frames);
    }
    EXPECT_TRUE(!settings.drop_last || batch.num_rows == shape.num_rows);
    for (const std::uint32_t row : plan.view_rows(batch)) {
      seen.insert(row);
      EXPECT_LE(order.rows()[row].num_frames, shape.num_frames);
      EXPECT_LE(order.rows()[row].num_tokens, shape.num_tokens);
    }
  }
  EXPECT_LE(order.shapes().size(), settings.max_shapes);
  EXPECT_EQ(std::set<std::uint32_t>(seen.begin(), seen.end()).size(), seen.size());
  const bool every_row_comes = !settings.drop_last && settings.source_weights.back() == 1.0;
  EXPECT_TRUE(!every_row_comes || seen.size() == order.rows().size());
}

TEST(BucketTest, EveryRowComesOnceWithinTheBudgetForAnySettings) {
  for (std::uint32_t seed = 0; seed < 96; ++seed) {
    KeyedDraws draws({seed, "test/settings", 0, 0});
    const auto draw = [&](std::uint64_t below) {
      return static_cast<std::uint32_t>(draws.next_below(below));
    };
    const SamplerSettings settings{.batch_frames = 1'000 + 1'000 * draw(80),
                                   .batch_size = draw(3) == 0 ? 24U : 0U,
                                   .batch_multiple = std::array{1U, 2U, 4U, 6U}[draw(4)],
                                   .max_shapes = std::array{1U, 3U, 12U, 48U}[draw(4)],
                                   .shuffle = draw(4) > 0,
                                   .source_weights = {1.0, draw(3) == 0 ? 0.3 : 1.0}};
    SamplerSettings dropping = settings;
    dropping.drop_last = settings.shuffle;
    const std::vector<SampledUtterance> rows = uneven_rows(1 + draw(300), seed);
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
      expect_sound_plan(Sampler(rows, settings), epoch);
      expect_sound_plan(Sampler(rows, dropping), epoch);
    }
  }
}

TEST(BucketTest, ShapesDoNotDependOnTheOrderOfTheRows) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    std::vector<SampledUtterance> rows = uneven_rows(500, seed);
    const SamplerSettings settings{.batch_frames = 8'000, .source_weights = {1.0, 1.0}};
    const Sampler as_read(rows, settings);
    std::ranges::reverse(rows);
    EXPECT_EQ(Sampler(rows, settings).shapes(), as_read.shapes());
    std::ranges::rotate(rows, rows.begin() + 123);
    EXPECT_EQ(Sampler(rows, settings).shapes(), as_read.shapes());
  }
}

TEST(BucketTest, FractionalWeightsAddNoBatchOfAFewRows) {
  std::vector<SampledUtterance> rows = made_rows(4'000);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].source = i % 2;
  const Sampler order(rows, {.source_weights = {0.5, 0.05}});
  for (std::uint64_t epoch = 0; epoch < 40; ++epoch)
    EXPECT_LE(padding(order, epoch), 0.08) << epoch;
}

TEST(LengthCountsTest, ClassesAreFineForOrdinaryLengthsAndBounded) {
  LengthCounts ordinary;
  ordinary.add(1, 2);
  ordinary.add(8, 1);
  ordinary.add(2'041, 4);
  ordinary.add(2'049, 0);
  ordinary.add(51'680, 1);
  const std::vector<LengthClass> classes = ordinary.classes();
  ASSERT_EQ(classes.size(), 4U);
  EXPECT_EQ(classes[0].num_frames, 8U);
  EXPECT_EQ(classes[0].num_rows, 3U);
  EXPECT_EQ(classes[1].num_frames, 2'048U);
  EXPECT_EQ(classes[2].num_frames, 2'064U);
  EXPECT_EQ(classes[2].num_rows, 0U);
  EXPECT_EQ(classes[3].num_frames, 51'712U);

  LengthCounts all;
  for (std::uint32_t frames = 1; frames < 200'000; ++frames) all.add(frames, 1);
  const std::vector<LengthClass> coarse = all.classes();
  EXPECT_LE(coarse.size(), 320U);
  std::uint64_t num_rows = 0;
  for (std::size_t i = 0; i < coarse.size(); ++i) {
    num_rows += coarse[i].num_rows;
    EXPECT_EQ(num_rows, std::min<std::uint64_t>(coarse[i].num_frames, 199'999)) << "none is lost";
    EXPECT_TRUE(i == 0 || coarse[i].num_frames <= coarse[i - 1].num_frames * 17 / 16 + 8);
  }
}

}  // namespace
}  // namespace stoker::feed
