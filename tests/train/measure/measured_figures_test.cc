#include "stoker/train/measure/measured_figures.h"

#include <gtest/gtest.h>

namespace stoker::train {
namespace {

MeasuredStep step_of(std::size_t shape, double interval_s, std::uint64_t true_frames = 100) {
  return {.shape = shape,
          .interval_s = interval_s,
          .data_s = interval_s / 4,
          .compute_s = interval_s / 2,
          .counts = {.num_batches = 1,
                     .num_clips = 2,
                     .true_frames = true_frames,
                     .all_frames = true_frames + 25}};
}

TEST(MeasuredFiguresTest, ShapesAreNumberedAsTheyCome) {
  ShapeNumbers numbers;
  const StepShapes one{{4, 100, 20}}, two{{4, 100, 20}, {2, 200, 30}};
  EXPECT_EQ(numbers.number(one), 0U);
  EXPECT_EQ(numbers.number(two), 1U);
  EXPECT_EQ(numbers.number(one), 0U);
  EXPECT_EQ(numbers.json().dump(), R"(["4x100x20","4x100x20+2x200x30"])");
}

TEST(MeasuredFiguresTest, AcceleratorUseComparesStepsOfTheSameShape) {
  const MeasuredWindow fed{{step_of(0, 0.2), step_of(1, 0.4), step_of(0, 0.2), step_of(7, 5.0)}};
  const MeasuredWindow resident{{step_of(0, 0.1), step_of(1, 0.3), step_of(0, 0.1)}};
  const auto use = accelerator_use(fed, resident);
  ASSERT_TRUE(use);
  EXPECT_NEAR(use->share, 0.5 / 0.8, 1e-12);
  EXPECT_NEAR(use->coverage, 0.8 / 5.8, 1e-12);
  EXPECT_FALSE(accelerator_use(fed, {}));
  EXPECT_FALSE(accelerator_use({}, resident));
}

TEST(MeasuredFiguresTest, AcceleratorUseSaysHowSureItIs) {
  MeasuredWindow fed, still, noisy;
  for (int i = 0; i < 100; ++i) {
    fed.steps.push_back(step_of(0, 0.2));
    still.steps.push_back(step_of(0, 0.1));
    noisy.steps.push_back(step_of(0, i % 2 == 0 ? 0.05 : 0.15));
  }
  EXPECT_NEAR(accelerator_use(fed, still)->error, 0, 1e-9);
  // Each interval is 0.05 off a mean of 0.1; a hundred of them make it ten times surer.
  EXPECT_NEAR(accelerator_use(fed, noisy)->error, 0.5 * 0.5 / 10, 1e-3);
}

TEST(MeasuredFiguresTest, LongerShapesAreNoUnsteadiness) {
  MeasuredWindow window;
  for (int i = 0; i < 10; ++i) {
    window.steps.push_back(step_of(0, 0.1));
    window.steps.push_back(step_of(1, 0.3));
  }
  EXPECT_NEAR(shape_cv(window), 0, 1e-12);
  EXPECT_NEAR(window_json(window).at("interval_cv").number(), 0.5, 1e-9);
  window.steps[3].interval_s = 0.9;
  EXPECT_GT(shape_cv(window), 0.3);
}

TEST(MeasuredFiguresTest, RatesAreOfTrueFramesOverAllIntervals) {
  const MeasuredWindow window{{step_of(0, 0.5, 300), step_of(0, 0.5, 100)}, true};
  const Json json = window_json(window);
  EXPECT_DOUBLE_EQ(json.at("frames_per_s").number(), 400);
  EXPECT_DOUBLE_EQ(json.at("samples_per_s").number(), 4);
  EXPECT_DOUBLE_EQ(json.at("padding_share").number(), 50.0 / 450);
  EXPECT_DOUBLE_EQ(json.at("data_ms").number(), 125);
  EXPECT_DOUBLE_EQ(json.at("compute_ms").number(), 250);
  EXPECT_EQ(json.at("clock").text(), "device");
  EXPECT_EQ(json.at("block_frames_per_s").dump(), "[600.0,200.0]");
  EXPECT_EQ(steps_json(window).at("interval_ms").dump(), "[500.0,500.0]");
}

TEST(MeasuredFiguresTest, BlocksHoldEveryStepOnce) {
  MeasuredWindow window;
  for (int i = 0; i < 7; ++i) window.steps.push_back(step_of(0, 1.0, 7));
  const std::vector<double> rates = block_rates(window, 3);
  ASSERT_EQ(rates.size(), 3U);
  for (const double each : rates) EXPECT_DOUBLE_EQ(each, 7);
  EXPECT_TRUE(block_rates({}, 3).empty());
}

}  // namespace
}  // namespace stoker::train
