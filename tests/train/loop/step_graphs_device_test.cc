// Recorded steps against the same steps launched one by one: equal bit for bit, whatever the shape,
// the precision and the number of batches an update; and what else a GPU's learner promises.
#include <gtest/gtest.h>

#include <optional>
#include <tuple>

#include "stoker/feed/open_feed.h"
#include "stoker/train/errors.h"
#include "stoker/train/loop/device/graph_memory.h"
#include "stoker/train/loop/device/step_packing.h"
#include "stoker/train/loop/learner.h"
#include "tests/doubles/gpu_present.h"
#include "tests/feed/small_data_set.h"
#include "tests/train/doubles/made_speech.h"

namespace stoker::train {
namespace {

constexpr double kRate = 2e-3;

LearnerOptions on_gpu(config::Precision precision, bool uses_graphs) {
  LearnerOptions options = small_learner();
  options.device = Device::cuda(0);
  options.precision = precision;
  options.is_deterministic = true;
  options.uses_graphs = uses_graphs;
  return options;
}

class StepGraphsTest : public cuda::GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    try {
      make_learner(on_gpu(config::Precision::kFp32, false));
    } catch (const GpuError& error) {
      GTEST_SKIP() << error.what();  // a libtorch for the CPU alone
    }
  }
};

struct Trained {
  std::vector<double> losses;
  std::vector<double> norms;
  TensorSet model, ema;

  bool operator==(const Trained&) const = default;
};

// From where the feed is.
Trained train(Learner& learner, feed::Feed& feed, int num_updates, int num_batches = 1,
              std::uint64_t first = 0) {
  Trained trained;
  const auto take = [&](Learner::Wait wait) {
    for (const UpdateFigures& figures : learner.take_figures(wait)) {
      EXPECT_FALSE(figures.is_skipped);
      EXPECT_GT(figures.compute_s, 0);
      EXPECT_LE(figures.compute_s, figures.ended_s - figures.began_s + 1e-6);
      trained.losses.push_back(figures.losses.total());
      trained.norms.push_back(figures.gradient_norm);
    }
  };
  for (int i = 0; i < num_updates; ++i) {
    for (int k = 0; k < num_batches; ++k) learner.add_batch(next_batch(feed), first++);
    learner.update(kRate);
    take(Learner::Wait::kNo);
  }
  take(Learner::Wait::kWait);
  EXPECT_EQ(trained.losses.size(), static_cast<std::size_t>(num_updates));
  const LearnerState state = learner.state();
  trained.model = state.model;
  trained.ema = state.ema;
  return trained;
}

std::vector<StepShape> shapes_of(const feed::Feed& feed) {
  return step_shapes_of(feed, small_learner().shape.reference_frames);
}

TEST_F(StepGraphsTest, EqualStepsOneByOneBitForBit) {
  for (const config::Precision precision : {config::Precision::kFp32, config::Precision::kTf32,
                                            config::Precision::kBf16, config::Precision::kFp16}) {
    for (const feed::BatchLayout layout :
         {feed::BatchLayout::kPadded, feed::BatchLayout::kPacked}) {
      for (const int num_batches : {1, 3}) {
        const MadeFeed made{.num_utterances = 60, .layout = layout};
        feed::Feed plain = made.open();
        feed::Feed recorded = made.open();
        feed::Feed later = made.open();
        const auto expected =
            train(*make_learner(on_gpu(precision, false)), plain, 10, num_batches);
        const std::unique_ptr<Learner> prepared = make_learner(on_gpu(precision, true));
        prepared->prepare(shapes_of(recorded));
        const GraphFigures figures = prepared->graph_figures();
        EXPECT_EQ(figures.num_eager, 0U) << figures.reason;
        EXPECT_EQ(figures.num_captured, shapes_of(recorded).size());
        EXPECT_EQ(train(*prepared, recorded, 10, num_batches), expected);
        EXPECT_EQ(prepared->graph_figures().num_captured, figures.num_captured)
            << "every shape was known";
        // Captured when met, also between the batches of an update.
        EXPECT_EQ(train(*make_learner(on_gpu(precision, true)), later, 10, num_batches), expected);
      }
    }
  }
}

TEST_F(StepGraphsTest, EvaluationAndSpeechBetweenStepsDisturbNothing) {
  const LearnerOptions options = on_gpu(config::Precision::kBf16, true);
  feed::Feed feed = MadeFeed{}.open();
  const Trained expected = train(*make_learner(options), feed, 8);
  feed::Feed again = MadeFeed{}.open();
  const std::unique_ptr<Learner> learner = make_learner(options);
  Learner::SpeakRequest request;
  request.tokens = {MadeSpeech(3).text(0)};
  request.references = {std::vector<float>(std::size_t{9} * MadeSpeech::kMels, -3.5F)};
  Trained found;
  for (std::uint64_t i = 0; i < 8; ++i) {
    found = train(*learner, again, 1, 1, i);
    feed::Feed other = MadeFeed{.num_utterances = 40}.open();
    learner->evaluate(next_batch(other), 0);
    learner->align(next_batch(other));
    learner->picture(next_batch(other));
    learner->speak(request);
  }
  EXPECT_EQ(found.losses.at(0), expected.losses.at(7));
  EXPECT_EQ(found.model, expected.model);
}

TEST_F(StepGraphsTest, ARestoredStateGoesOnBitForBit) {
  for (const config::Precision precision : {config::Precision::kBf16, config::Precision::kFp16}) {
    const LearnerOptions options = on_gpu(precision, true);
    feed::Feed feed = MadeFeed{}.open();
    const std::unique_ptr<Learner> learner = make_learner(options);
    train(*learner, feed, 5);
    const LearnerState state = learner->state();
    feed::Feed same = MadeFeed{}.open();
    for (int i = 0; i < 5; ++i) next_batch(same);
    const Trained expected = train(*learner, feed, 7, 1, 5);
    const std::unique_ptr<Learner> other = make_learner(options);
    other->prepare(shapes_of(same));
    other->restore(state);
    EXPECT_EQ(train(*other, same, 7, 1, 5), expected);
  }
}

// The feed uploads from its own threads while shapes are captured and replayed.
TEST_F(StepGraphsTest, AFeedIntoTheGpuDoesNotBreakACapture) {
  feed::SmallDataSet set(48);
  set.settings().loader.preprocessing_mode = config::PreprocessingMode::kRuntime;
  set.settings().run.device = "cuda";
  LearnerOptions options = on_gpu(config::Precision::kBf16, false);
  options.shape.num_mels = 80;
  options.shape.num_tokens = 1024;
  feed::OpenedFeed plain = feed::open_feed(set.settings());
  const Trained expected = train(*make_learner(options), plain.feed, 12);
  options.uses_graphs = true;
  feed::OpenedFeed opened = feed::open_feed(set.settings());
  const std::unique_ptr<Learner> learner = make_learner(options);
  EXPECT_EQ(train(*learner, opened.feed, 12), expected);
  EXPECT_GT(learner->graph_figures().num_captured, 0U);
  EXPECT_EQ(learner->graph_figures().num_eager, 0U) << learner->graph_figures().reason;
}

TEST_F(StepGraphsTest, AStepNeverWaitsForTheDevice) {
  feed::Feed feed = MadeFeed{.num_utterances = 60}.open();
  for (const bool uses_graphs : {true, false}) {
    const std::unique_ptr<Learner> learner =
        make_learner(on_gpu(config::Precision::kBf16, uses_graphs));
    learner->prepare(shapes_of(feed));
    learner->add_batch(next_batch(feed), 0);
    learner->update(kRate);
    const NoWaitScope no_waits;
    for (std::uint64_t i = 1; i < 9; ++i) {
      learner->add_batch(next_batch(feed), i);
      learner->update(kRate);
      learner->take_figures(Learner::Wait::kNo);
    }
  }
}

// Long enough for a tool that checks every access to see each graph run often, over all shapes.
class ManyReplaysTest
    : public StepGraphsTest,
      public testing::WithParamInterface<std::tuple<config::Precision, feed::BatchLayout>> {};

TEST_P(ManyReplaysTest, EveryShapeIsReplayed) {
  constexpr int kReplays = 250;
  const auto [precision, layout] = GetParam();
  feed::Feed feed = MadeFeed{.num_utterances = 60, .layout = layout}.open();
  const std::unique_ptr<Learner> learner = make_learner(on_gpu(precision, true));
  learner->prepare(shapes_of(feed));
  const Trained trained = train(*learner, feed, kReplays);
  EXPECT_EQ(learner->graph_figures().num_eager, 0U) << learner->graph_figures().reason;
  EXPECT_EQ(learner->graph_figures().num_captured, shapes_of(feed).size());
  EXPECT_LT(trained.losses.back(), trained.losses.front());
}

INSTANTIATE_TEST_SUITE_P(
    StepGraphs, ManyReplaysTest,
    testing::Combine(testing::Values(config::Precision::kBf16, config::Precision::kFp16),
                     testing::Values(feed::BatchLayout::kPadded, feed::BatchLayout::kPacked)));

TEST_F(StepGraphsTest, ProbingTellsMoreForMoreFramesAndChangesNothing) {
  feed::Feed feed = MadeFeed{}.open();
  feed::Feed other = MadeFeed{}.open();
  const LearnerOptions options = on_gpu(config::Precision::kBf16, true);
  const std::unique_ptr<Learner> learner = make_learner(options);
  const StepShape small{.num_rows = 16,
                        .num_frames = 16'000,
                        .num_tokens = 3'200,
                        .longest_frames = 1'000,
                        .longest_tokens = 200};
  StepShape large = small;
  large.num_rows *= 4;
  large.num_frames *= 4;
  large.num_tokens *= 4;
  const std::uint64_t large_bytes = learner->probe_bytes(large);
  const std::uint64_t small_bytes = learner->probe_bytes(small);
  EXPECT_GT(small_bytes, std::uint64_t{1} << 20U);
  EXPECT_GT(large_bytes, small_bytes + (std::uint64_t{100} << 20U));
  StepShape huge = large;
  huge.num_rows *= 100'000;
  huge.num_frames *= 100'000;
  huge.num_tokens *= 100'000;
  try {
    learner->probe_bytes(huge);
    FAIL() << "fits";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, &kTrainMemory) << failure.what();
  }
  EXPECT_EQ(train(*learner, feed, 4), train(*make_learner(options), other, 4));
}

// Of the feed, as large as those that memory is short for.
std::vector<StepShape> large_shapes_of(const feed::Feed& feed) {
  std::vector<StepShape> shapes = step_shapes_of(feed, 12);
  for (StepShape& shape : shapes) {
    shape.num_rows *= 500;
    shape.num_frames *= 500;
    shape.num_tokens *= 500;
  }
  return shapes;
}

TEST_F(StepGraphsTest, WhatIsForgottenGivesItsMemoryBackAndChangesNothing) {
  feed::Feed feed = MadeFeed{}.open();
  feed::Feed other = MadeFeed{}.open();
  const LearnerOptions options = on_gpu(config::Precision::kBf16, true);
  const std::unique_ptr<Learner> learner = make_learner(options);
  const std::vector<StepShape> shapes = large_shapes_of(feed);
  const std::uint64_t before = learner->held_bytes();
  learner->prepare(shapes);
  const std::uint64_t ready = learner->held_bytes();
  EXPECT_GT(ready, before + (std::uint64_t{50} << 20U));
  learner->forget_prepared();
  EXPECT_LT(learner->held_bytes(), before + (ready - before) / 8);
  EXPECT_EQ(learner->graph_figures().num_captured, 0U);
  EXPECT_GT(learner->probe_evaluation_bytes(shapes.back()), 0U);
  EXPECT_EQ(train(*learner, feed, 4), train(*make_learner(options), other, 4));
}

TEST_F(StepGraphsTest, NoMoreIsHeldThanTheBoundWhichCanBeRaisedAgain) {
  feed::Feed feed = MadeFeed{}.open();
  feed::Feed other = MadeFeed{}.open();
  const LearnerOptions options = on_gpu(config::Precision::kBf16, true);
  const std::unique_ptr<Learner> learner = make_learner(options);
  const std::vector<StepShape> shapes = large_shapes_of(feed);
  learner->prepare(shapes);
  const std::uint64_t needed = learner->held_bytes();
  learner->forget_prepared();
  const std::uint64_t bound = learner->held_bytes() + (needed - learner->held_bytes()) / 2;
  learner->bound_bytes(bound);
  try {
    learner->prepare(shapes);
    ADD_FAILURE() << "fits";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, &kTrainMemory) << failure.what();
  }
  EXPECT_LE(learner->held_bytes(), bound);
  learner->forget_prepared();
  learner->bound_bytes(2 * needed);
  learner->prepare(shapes);
  EXPECT_EQ(learner->graph_figures().num_captured, shapes.size());
  EXPECT_EQ(train(*learner, feed, 4), train(*make_learner(options), other, 4));
}

}  // namespace
}  // namespace stoker::train
