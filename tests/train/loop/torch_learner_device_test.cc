// The learner on a GPU against the learner on the CPU, with batches of the host and of the GPU.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "stoker/cuda/device_probe.h"
#include "stoker/feed/open_feed.h"
#include "stoker/train/loop/learner.h"
#include "tests/doubles/gpu_present.h"
#include "tests/feed/small_data_set.h"
#include "tests/train/doubles/made_speech.h"

namespace stoker::train {
namespace {

constexpr double kRate = 2e-3;

class LearnerDeviceTest : public cuda::GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    try {
      make_learner(on_gpu());
    } catch (const GpuError& error) {
      GTEST_SKIP() << error.what();  // a libtorch for the CPU alone
    }
  }

  static LearnerOptions on_gpu(config::Precision precision = config::Precision::kFp32) {
    LearnerOptions options = small_learner();
    options.device = Device::cuda(0);
    options.precision = precision;
    return options;
  }

  static std::vector<double> train(Learner& learner, feed::Feed& feed, int num_updates,
                                   std::uint64_t first = 0) {
    std::vector<double> losses;
    const auto take = [&](Learner::Wait wait) {
      for (const UpdateFigures& figures : learner.take_figures(wait)) {
        EXPECT_FALSE(figures.is_skipped);
        EXPECT_GT(figures.compute_s, 0);
        EXPECT_LT(figures.compute_s, 60);
        losses.push_back(figures.losses.total());
      }
    };
    for (int i = 0; i < num_updates; ++i) {
      learner.add_batch(next_batch(feed), first + static_cast<std::uint64_t>(i));
      learner.update(kRate);
      take(Learner::Wait::kNo);
    }
    take(Learner::Wait::kWait);
    EXPECT_EQ(losses.size(), static_cast<std::size_t>(num_updates));
    return losses;
  }
  static std::vector<double> losses_of(const LearnerOptions& options, int num_updates) {
    feed::Feed feed = MadeFeed{}.open();
    return train(*make_learner(options), feed, num_updates);
  }
  static void expect_near(const std::vector<double>& found, const std::vector<double>& expected,
                          double tolerance) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i], expected[i], tolerance * expected[i]) << "update " << i + 1;
    }
  }
};

TEST_F(LearnerDeviceTest, TwentyLossesEqualThoseOfTheCpu) {
  expect_near(losses_of(on_gpu(), 20), losses_of(small_learner(), 20), 1e-3);
}

TEST_F(LearnerDeviceTest, LowerPrecisionStaysNear) {
  const std::vector<double> exact = losses_of(small_learner(), 8);
  expect_near(losses_of(on_gpu(config::Precision::kTf32), 8), exact, 0.02);
  expect_near(losses_of(on_gpu(config::Precision::kBf16), 8), exact, 0.05);
  expect_near(losses_of(on_gpu(config::Precision::kFp16), 8), exact, 0.03);
}

TEST_F(LearnerDeviceTest, DeterministicRunsAndResumesBitForBit) {
  LearnerOptions options = on_gpu();
  options.is_deterministic = true;
  const std::vector<double> expected = losses_of(options, 12);
  EXPECT_EQ(losses_of(options, 12), expected);

  feed::Feed feed = MadeFeed{}.open();
  const std::unique_ptr<Learner> learner = make_learner(options);
  train(*learner, feed, 5);
  const LearnerState state = learner->state();
  const std::unique_ptr<Learner> other = make_learner(options);
  other->restore(state);
  EXPECT_EQ(train(*other, feed, 7, 5), std::vector<double>(expected.begin() + 5, expected.end()));
  Learner::SpeakRequest request;
  request.tokens = {MadeSpeech(3).text(0)};
  request.references = {std::vector<float>(std::size_t{9} * MadeSpeech::kMels, -3.5F)};
  EXPECT_EQ(other->speak(request).at(0).mel, other->speak(request).at(0).mel);
}

TEST_F(LearnerDeviceTest, BadBatchesAreSkippedWithoutWaiting) {
  feed::Feed bad = MadeFeed{.num_utterances = 3, .faults = {.not_finite = {0, 1, 2}}}.open();
  feed::Feed feed = MadeFeed{}.open();
  const std::unique_ptr<Learner> learner = make_learner(on_gpu());
  train(*learner, feed, 2);
  const LearnerState before = learner->state();
  learner->add_batch(next_batch(bad), 2);
  learner->update(kRate);
  EXPECT_TRUE(learner->take_figures(Learner::Wait::kWait).at(0).is_skipped);
  EXPECT_EQ(learner->state().model, before.model);
  EXPECT_EQ(learner->state().ema, before.ema);
  train(*learner, feed, 2, 3);
}

TEST_F(LearnerDeviceTest, EvaluationAlignmentAndSpeechEqualThoseOfTheCpu) {
  const std::unique_ptr<Learner> there = make_learner(on_gpu());
  const std::unique_ptr<Learner> here = make_learner(small_learner());
  feed::Feed feed = MadeFeed{}.open();
  train(*there, feed, 10);
  here->restore(there->state());
  const auto batch = [] {
    feed::Feed one = MadeFeed{}.open();
    return next_batch(one);
  };
  const double expected = here->evaluate(batch(), 0).losses.total();
  EXPECT_NEAR(there->evaluate(batch(), 0).losses.total(), expected, 1e-3 * expected);
  const std::vector<RowAlignment> rows = there->align(batch());
  const std::vector<RowAlignment> expected_rows = here->align(batch());
  ASSERT_EQ(rows.size(), expected_rows.size());
  std::size_t num_equal = 0, num_frames = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t i = 0; i < rows[row].token_of_frame.size(); ++i, ++num_frames) {
      num_equal += rows[row].token_of_frame[i] == expected_rows[row].token_of_frame[i] ? 1 : 0;
    }
  }
  EXPECT_GT(static_cast<double>(num_equal), 0.98 * static_cast<double>(num_frames));

  Learner::SpeakRequest request;
  request.tokens = {MadeSpeech(3).text(0), MadeSpeech(3).text(1)};
  request.references = {std::vector<float>(std::size_t{9} * MadeSpeech::kMels, -3.5F)};
  const std::vector<Learner::SpokenMel> spoken = there->speak(request);
  const std::vector<Learner::SpokenMel> expected_mels = here->speak(request);
  ASSERT_EQ(spoken.size(), 2U);
  for (std::size_t row = 0; row < spoken.size(); ++row) {
    ASSERT_EQ(spoken[row].num_frames, expected_mels[row].num_frames);
    for (std::size_t i = 0; i < spoken[row].mel.size(); ++i) {
      ASSERT_NEAR(spoken[row].mel[i], expected_mels[row].mel[i], 1e-2);
    }
  }
  EXPECT_EQ(there->picture(batch()).num_frames, here->picture(batch()).num_frames);
}

TEST_F(LearnerDeviceTest, BatchesInGpuMemoryGiveTheLossesOfHostBatches) {
  feed::SmallDataSet set(24);
  set.settings().loader.preprocessing_mode = config::PreprocessingMode::kRuntime;
  set.settings().batch.reference = config::ReferencePart::kSame;
  set.settings().batch.reference_audio_s = 0.2;
  LearnerOptions options = on_gpu();
  options.shape.num_mels = 80;
  options.shape.num_tokens = 1024;
  const auto losses = [&](const char* device) {
    config::Settings settings = set.settings();
    settings.run.device = device;
    feed::OpenedFeed opened = feed::open_feed(settings);
    feed::Batch probe = next_batch(opened.feed);
    EXPECT_EQ(probe.device().is_cuda(), std::string_view(device) == "cuda");
    const std::unique_ptr<Learner> learner = make_learner(options);
    learner->add_batch(std::move(probe), 0);
    learner->update(kRate);
    learner->take_figures(Learner::Wait::kWait);
    return train(*learner, opened.feed, 8, 1);
  };
  expect_near(losses("cuda"), losses("cpu"), 2e-3);
}

// The bound holds for a process that has not used the GPU yet, so the test has one of its own.
class LearnerMemoryTest : public cuda::GpuTest {
 protected:
  static void make_bounded(LearnerOptions options) {
    options.device = Device::cuda(0);
    options.max_device_bytes = std::uint64_t{1} << 20U;
    options.shape.text_width = 512;
    try {
      make_learner(options);
    } catch (const Failure& failure) {
      std::fputs(failure.what(), stderr);
      std::_Exit(1);
    }
    std::_Exit(0);
  }
};

TEST_F(LearnerMemoryTest, WhatExceedsTheBoundIsToldAsSuch) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(make_bounded(small_learner()), testing::ExitedWithCode(1),
              "E-TRAIN-MEMORY|E-CUDA-NONE");
}

}  // namespace
}  // namespace stoker::train
