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

TEST_P(FittedBatchesTest, TheFeedsAndAnEvaluationHaveRoomToo) {
  const MadeFeed made{.num_utterances = 2'000, .layout = GetParam()};
  const auto sized = [&](bool has_evaluation, std::uint64_t buffer_bytes) {
    MadeFeed bounded = made;
    bounded.buffer_bytes = buffer_bytes;
    RunFeeds feeds{.settings = {}, .train = {.feed = bounded.open(), .source = nullptr}};
    if (has_evaluation)
      feeds.evaluation.emplace(feed::OpenedFeed{.feed = made.open(), .source = nullptr});
    LearnerScript script;
    script.probe = probe;
    script.probe_evaluation = [](const StepShape& shape) {
      if (shape.num_frames > 20'000) raise({.code = &kTrainMemory, .found = "no memory"});
      return static_cast<std::uint64_t>(shape.num_frames) * 2'000;
    };
    ScriptedLearner learner(script, {});
    return fit_batches(feeds, learner, {.allowed_bytes = kRoom, .max_reference_frames = 8});
  };
  const BatchSizing alone = sized(false, 1U << 30U);
  const BatchSizing with_evaluation = sized(true, 1U << 30U);
  EXPECT_LT(with_evaluation.batch_frames, alone.batch_frames);
  EXPECT_LT(with_evaluation.allowed_bytes, alone.allowed_bytes);
  EXPECT_LE(with_evaluation.bytes, with_evaluation.allowed_bytes);
  const std::uint64_t little = 3 * made.open().format().slot_bytes() * 4;
  const BatchSizing bounded = sized(false, little);
  EXPECT_TRUE(bounded.is_bound_by_feed);
  EXPECT_LT(bounded.batch_frames, alone.batch_frames);
  MadeFeed opened = made;
  opened.buffer_bytes = little;
  opened.batch_frames = bounded.batch_frames;
  EXPECT_GT(opened.open().num_batches(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Layouts, FittedBatchesTest,
                         testing::Values(feed::BatchLayout::kPadded, feed::BatchLayout::kPacked));

}  // namespace
}  // namespace stoker::train
