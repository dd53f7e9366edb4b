// A batch far ahead is found where counting epoch by epoch finds it, and as fast.
#include "stoker/feed/sampling/epoch_lengths.h"

#include <gtest/gtest.h>

#include "stoker/base/clock.h"
#include "stoker/feed/errors.h"
#include "tests/feed/sampling/speech_lengths.h"

namespace stoker::feed {
namespace {

struct Case {
  const char* name;
  SamplerSettings settings;
  bool leaves_rows_out = false;
};

void PrintTo(const Case& each, std::ostream* out) { *out << each.name; }

Sampler make_order(const Case& each, std::size_t num_rows = 90) {
  std::vector<SampledUtterance> rows = speech_like_rows(num_rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].source = static_cast<std::uint32_t>(i % each.settings.source_weights.size());
    rows[i].is_used = !each.leaves_rows_out || i % 7 != 3;
  }
  return {std::move(rows), each.settings};
}

std::uint64_t planned_batches(const Sampler& order, std::uint64_t epoch) {
  EpochPlan plan;
  order.plan_epoch(epoch, plan);
  return plan.batches.size();
}

class EpochLengthsTest : public testing::TestWithParam<Case> {};

TEST_P(EpochLengthsTest, CountsWhatAPlanHas) {
  const Sampler order = make_order(GetParam());
  EpochLengths lengths(order);
  for (std::uint64_t epoch = 0; epoch < 300; ++epoch)
    ASSERT_EQ(lengths.count(epoch), planned_batches(order, epoch)) << epoch;
  for (const std::uint64_t epoch :
       {std::uint64_t{999'999}, std::uint64_t{1'000'000}, std::uint64_t{1'000'001}, kEndEpoch - 1})
    EXPECT_EQ(lengths.count(epoch), planned_batches(order, epoch)) << epoch;
}

TEST_P(EpochLengthsTest, FindsThePlaceThatCountingFinds) {
  const Sampler order = make_order(GetParam());
  FeedPosition counted{2, 0};
  std::uint64_t left_of_epoch = planned_batches(order, 2);
  for (std::uint64_t batch = 0; batch < 700; ++batch) {
    EXPECT_EQ(EpochLengths(order).find({2, batch}), counted) << batch;
    // The end of an epoch is a place of its own: the consumer has not been told yet.
    ++counted.batch;
    if (left_of_epoch-- > 0) continue;
    counted = {counted.epoch + 1, 1};
    while ((left_of_epoch = planned_batches(order, counted.epoch)) == 0) ++counted.epoch;
    --left_of_epoch;
  }
}

SamplerSettings padded(std::vector<double> weights) {
  return {.batch_size = 6, .max_shapes = 5, .source_weights = std::move(weights)};
}

SamplerSettings with(SamplerSettings settings, BatchLayout layout, bool shuffle, bool drop_last) {
  settings.layout = layout;
  settings.shuffle = shuffle;
  settings.drop_last = drop_last;
  if (layout == BatchLayout::kPacked) {
    settings.batch_size = 0;
    settings.batch_frames = 4'000;
  }
  return settings;
}

constexpr BatchLayout kPadded = BatchLayout::kPadded;
constexpr BatchLayout kPacked = BatchLayout::kPacked;

INSTANTIATE_TEST_SUITE_P(
    Orders, EpochLengthsTest,
    testing::Values(Case{"Equal", padded({1.0})}, Case{"EqualTwice", padded({2.0, 1.0})},
                    Case{"EqualDropped", with(padded({1.0}), kPadded, true, true)},
                    Case{"EqualInFileOrder", with(padded({1.0}), kPadded, false, false)},
                    Case{"Quarter", padded({1.0, 0.25})},
                    Case{"QuarterLeftOut", padded({1.0, 0.25}), true},
                    Case{"QuartersOfTwo", padded({0.25, 1.0, 0.25}), true},
                    Case{"Odd", padded({0.3, 1.7, 0.123457}), true},
                    Case{"OddDropped", with(padded({0.3, 1.7, 0.123457}), kPadded, true, true)},
                    Case{"Rare", with(padded({0.05}), kPadded, true, false)},
                    Case{"QuarterInFileOrder", with(padded({1.0, 0.25}), kPadded, false, false)},
                    Case{"Packed", with(padded({1.0}), kPacked, true, false)},
                    Case{"PackedQuarter", with(padded({1.0, 0.25}), kPacked, true, true)},
                    Case{"PackedInFileOrder", with(padded({1.0}), kPacked, false, false)}),
    [](const testing::TestParamInfo<Case>& each) { return std::string(each.param.name); });

TEST(EpochLengthsFarTest, AnyNumberIsFoundOrRefusedInBoundedTime) {
  const Sampler equal = make_order({"equal", padded({1.0})});
  const std::uint64_t length = planned_batches(equal, 0);
  const Stopwatch watch;
  EXPECT_EQ(EpochLengths(equal).find({0, 10'000'000 * length + 3}), (FeedPosition{10'000'000, 3}));
  EXPECT_EQ(EpochLengths(equal).find({0, (kEndEpoch - 1) * length}),
            (FeedPosition{kEndEpoch - 2, length}));
  for (const std::uint64_t beyond : {kEndEpoch * length + 1, ~std::uint64_t{0}})
    EXPECT_THROW(EpochLengths(equal).find({0, beyond}), ConfigError);
  EXPECT_THROW(EpochLengths(equal).find({kEndEpoch, 0}), ConfigError);
  EXPECT_THROW(EpochLengths(equal).find({~std::uint64_t{0}, 0}), ConfigError);
  EXPECT_LT(watch.seconds(), 2.0);
}

TEST(EpochLengthsFarTest, UnequalEpochsRepeatAfterAMillion) {
  const Sampler order = make_order({"odd", padded({0.3, 1.7, 0.123457})});
  EpochLengths lengths(order);
  std::uint64_t of_a_period = 0;
  for (std::uint64_t epoch = 0; epoch < 1'000'000; ++epoch) of_a_period += lengths.count(epoch);
  EXPECT_EQ(EpochLengths(order).find({0, 7 * of_a_period + 4}), (FeedPosition{7'000'000, 4}));
}

TEST(EpochLengthsFarTest, PackedEpochsAreLookedForWithinABound) {
  const Sampler order = make_order({"packed", with(padded({1.0}), kPacked, true, false)});
  const Stopwatch watch;
  try {
    EpochLengths(order).find({0, 100'000'000'000});
    FAIL() << "found";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, &kFeedState);
    EXPECT_NE(failure.error().cure.find("saved state"), std::string::npos);
  }
  EXPECT_LT(watch.seconds(), 60.0);
}

}  // namespace
}  // namespace stoker::feed
