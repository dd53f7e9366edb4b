#include "stoker/train/loop/fitted_batches.h"

#include <gtest/gtest.h>

#include "stoker/train/errors.h"
#include "stoker/train/loop/device/step_packing.h"
#include "tests/train/doubles/made_speech.h"
#include "tests/train/doubles/scripted_learner.h"

namespace stoker::train {
namespace {

constexpr std::uint64_t kRoom = 40'000'000;

std::uint64_t bytes_of(const StepShape& shape) {
  return 1'000'000 + static_cast<std::uint64_t>(shape.num_frames) * 10'000 +
         static_cast<std::uint64_t>(alignment_cells(shape));
}

// A device that has a little more than what is allowed.
std::uint64_t probe(const StepShape& shape) {
  const std::uint64_t bytes = bytes_of(shape);
  if (bytes > kRoom * 11 / 10) raise({.code = &kTrainMemory, .found = "no memory"});
  return bytes;
}

class FittedBatchesTest : public testing::TestWithParam<feed::BatchLayout> {};

TEST_P(FittedBatchesTest, EveryShapeOfTheFeedFits) {
  const MadeFeed made{.num_utterances = 2'000, .layout = GetParam()};
  RunFeeds feeds{.settings = {}, .train = {.feed = made.open(), .source = nullptr}};
  LearnerScript script;
  script.probe = probe;
  ScriptedLearner learner(script, {});
  const BatchSizing sizing =
      fit_batches(feeds, learner, {.allowed_bytes = kRoom, .max_reference_frames = 8});
  EXPECT_FALSE(sizing.is_bound_by_data);
  EXPECT_GE(sizing.bytes, kRoom * 85 / 100);
  MadeFeed larger = made;
  larger.batch_frames = sizing.batch_frames;
  const feed::Feed feed = larger.open();
  for (const StepShape& shape : step_shapes_of(feed, 8)) EXPECT_LE(bytes_of(shape), kRoom);
}

TEST_P(FittedBatchesTest, AnEpochKeepsEightBatches) {
  const MadeFeed made{.num_utterances = 200, .layout = GetParam()};
  RunFeeds feeds{.settings = {}, .train = {.feed = made.open(), .source = nullptr}};
  LearnerScript script;
  script.probe = [](const StepShape&) { return 1U; };
  ScriptedLearner learner(script, {});
  const BatchSizing sizing =
      fit_batches(feeds, learner, {.allowed_bytes = kRoom, .max_reference_frames = 8});
  EXPECT_TRUE(sizing.is_bound_by_data);
  MadeFeed larger = made;
  larger.batch_frames = sizing.batch_frames;
  EXPECT_GE(larger.open().num_batches(), 8U);
}

INSTANTIATE_TEST_SUITE_P(Layouts, FittedBatchesTest,
                         testing::Values(feed::BatchLayout::kPadded, feed::BatchLayout::kPacked));

}  // namespace
}  // namespace stoker::train
