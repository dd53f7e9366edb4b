#include "stoker/train/loop/batch_sizing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "stoker/base/error.h"

namespace stoker::train {
namespace {

constexpr std::uint64_t kGiB = 1ULL << 30U;

// A card whose steps take what the formula says, and a little more that no formula has.
struct MadeCard {
  double fixed = 2e9;
  double per_frame = 4e5;
  double per_cell = 12;
  double noise = 0.01;
  std::uint64_t room = 64 * kGiB;
  mutable std::uint64_t most = 0;
  mutable int num_refused = 0;

  std::uint64_t bytes(const StepShape& shape) const {
    const double wave = std::sin(static_cast<double>(shape.num_frames) * 0.37);
    return static_cast<std::uint64_t>((fixed + per_frame * static_cast<double>(shape.num_frames) +
                                       per_cell * alignment_cells(shape)) *
                                      (1 + noise * wave));
  }
  std::optional<std::uint64_t> probe(const StepShape& shape) const {
    const std::uint64_t needed = bytes(shape);
    if (needed > room) {
      ++num_refused;
      return std::nullopt;
    }
    most = std::max(most, needed);
    return needed;
  }
};

// Buckets of eight lengths, as a padded feed has them.
std::vector<StepShape> padded_shapes(std::uint32_t batch_frames) {
  std::vector<StepShape> shapes;
  for (std::int64_t length = 120; length <= 960; length += 120) {
    const std::int64_t rows = batch_frames / length;
    if (rows == 0) return {};
    shapes.push_back({.is_packed = false,
                      .num_rows = rows,
                      .num_frames = rows * length,
                      .num_tokens = rows * length / 5,
                      .longest_frames = length,
                      .longest_tokens = length / 5});
  }
  return shapes;
}

SizingRequest request_for(const MadeCard& card, std::uint32_t most_frames) {
  return {.allowed_bytes = [&card](std::uint32_t) { return card.room * 9 / 10; },
          .least_frames = 960,
          .most_frames = most_frames,
          .shapes_of = padded_shapes,
          .probe = [&card](const StepShape& shape) { return card.probe(shape); }};
}

TEST(BatchSizingTest, FindsTheFormulaBehindProbes) {
  const MadeCard card{.noise = 0};
  std::vector<ProbedStep> probes;
  for (const std::uint32_t frames : {4'000U, 8'000U, 16'000U})
    for (const StepShape& shape : padded_shapes(frames))
      probes.push_back({shape, card.bytes(shape)});
  const StepBytes fit = fit_bytes(probes);
  EXPECT_NEAR(fit.fixed, card.fixed, 0.01 * card.fixed);
  EXPECT_NEAR(fit.per_frame, card.per_frame, 0.01 * card.per_frame);
  EXPECT_NEAR(fit.per_cell, card.per_cell, 0.01 * card.per_cell);
}

TEST(BatchSizingTest, UsesMostOfAnyCardAndNeverMore) {
  std::mt19937 random(11);
  const auto any = [&](double low, double high) {
    return std::exp(std::uniform_real_distribution<>(std::log(low), std::log(high))(random));
  };
  for (int round = 0; round < 200; ++round) {
    const MadeCard card{
        .fixed = any(1e8, 3e9),
        .per_frame = any(2e4, 2e6),
        .per_cell = any(0.1, 100),
        .noise = any(1e-4, 0.02),
        .room = static_cast<std::uint64_t>(any(8, 140) * static_cast<double>(kGiB))};
    SCOPED_TRACE("round " + std::to_string(round));
    const BatchSizing sizing = choose_batch_frames(request_for(card, 2'000'000'000));
    std::uint64_t most = 0;
    for (const StepShape& shape : padded_shapes(sizing.batch_frames))
      most = std::max(most, card.bytes(shape));
    EXPECT_LE(most, card.room * 93 / 100);
    EXPECT_GE(sizing.bytes, sizing.allowed_bytes * 85 / 100);
    EXPECT_LE(sizing.bytes, sizing.allowed_bytes);
    EXPECT_LE(sizing.num_probes, 34U);
    EXPECT_FALSE(sizing.is_bound_by_data);
  }
}

// What the feeds take grows with the batches.
TEST(BatchSizingTest, LeavesRoomForWhatLargerBatchesTakeBeside) {
  const MadeCard card{.per_cell = 0.1, .room = 64 * kGiB};
  SizingRequest request = request_for(card, 2'000'000'000);
  const auto allowed = [&card](std::uint32_t frames) {
    const std::uint64_t beside = std::uint64_t{200'000} * frames;
    return card.room - std::min(card.room, beside);
  };
  request.allowed_bytes = allowed;
  const BatchSizing sizing = choose_batch_frames(request);
  EXPECT_EQ(sizing.allowed_bytes, allowed(sizing.batch_frames));
  EXPECT_LE(sizing.bytes, sizing.allowed_bytes);
  EXPECT_GE(sizing.bytes, sizing.allowed_bytes * 85 / 100);
  EXPECT_FALSE(sizing.is_bound_by_feed);
}

TEST(BatchSizingTest, TheFeedMayBeTheBound) {
  const MadeCard card{.room = 64 * kGiB};
  SizingRequest request = request_for(card, 2'000'000'000);
  request.allowed_bytes = [&card](std::uint32_t frames) {
    return frames <= 30'000 ? card.room : 0;
  };
  const BatchSizing sizing = choose_batch_frames(request);
  EXPECT_LE(sizing.batch_frames, 30'000U);
  EXPECT_GE(sizing.batch_frames, 30'000U * 85 / 100);
  EXPECT_TRUE(sizing.is_bound_by_feed);
  EXPECT_NE(sizing_line(sizing).find("data.buffer_memory"), std::string::npos);
}

// Recorded steps hold more than the largest of them alone, by a share that no probe tells.
TEST(BatchSizingTest, BatchesShrinkUntilAllStepsTogetherFit) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    const MadeCard card{.per_cell = 0.5, .room = 64 * kGiB};
    const BatchSizing one = choose_batch_frames(request_for(card, 2'000'000'000));
    const double more = std::uniform_real_distribution<>(0.9, 1.6)(random);
    const double room = std::uniform_real_distribution<>(1.0, 1.2)(random);
    SCOPED_TRACE(more);
    int tries = 0;
    const BatchSizing all =
        settle_batch_frames(one, 960, [&](std::uint32_t frames) -> std::optional<std::uint64_t> {
          ++tries;
          const double bytes = more * (card.fixed + card.per_frame * frames);
          if (bytes > room * static_cast<double>(one.allowed_bytes)) return std::nullopt;
          return static_cast<std::uint64_t>(bytes);
        });
    EXPECT_LE(all.bytes, all.allowed_bytes);
    EXPECT_GE(all.bytes, all.allowed_bytes * 80 / 100);
    EXPECT_LE(tries, 7);
    EXPECT_LE(all.batch_frames, one.batch_frames);
    EXPECT_EQ(all.batch_frames % 64, 0U);
  }
}

TEST(BatchSizingTest, RefusesWhereNoSmallerBatchHoldsTheLongestUtterance) {
  const BatchSizing sizing{.batch_frames = 4'000, .bytes = 10, .allowed_bytes = 20};
  try {
    settle_batch_frames(sizing, 3'000, [](std::uint32_t) { return std::nullopt; });
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code->name, "E-TRAIN-MEMORY");
  }
}

TEST(BatchSizingTest, DataMayBeTheBound) {
  const MadeCard card;
  const BatchSizing sizing = choose_batch_frames(request_for(card, 20'000));
  EXPECT_TRUE(sizing.is_bound_by_data);
  EXPECT_EQ(sizing.batch_frames, 20'000U / 64 * 64);
  EXPECT_NE(sizing_line(sizing).find("too few batches"), std::string::npos);
}

TEST(BatchSizingTest, RefusesACardThatHoldsNoBatch) {
  const MadeCard card{.room = kGiB};
  try {
    choose_batch_frames(request_for(card, 1'000'000));
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code->name, "E-TRAIN-MEMORY");
  }
}

}  // namespace
}  // namespace stoker::train
