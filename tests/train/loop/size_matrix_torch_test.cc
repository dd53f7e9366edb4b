// Every model size with every optimisation level, static shapes on and off and one or two batches
// an update: two steps each, through the whole run, with finite losses.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "stoker/config/load.h"
#include "stoker/train/loop/training_run.h"
#include "tests/doubles/scratch_folder.h"
#include "tests/feed/small_data_set.h"

namespace stoker::train {
namespace {

// The larger sizes keep their layers and heads and lose width, so that all runs fit into a minute;
// `make torture` runs each size as it is.
ModelShape narrowed(ModelShape shape) {
  while (shape.decoder_width > 24 * shape.decoder_heads) shape.decoder_width /= 2;
  while (shape.text_width > 24 * shape.text_heads) shape.text_width /= 2;
  shape.decoder_width -= shape.decoder_width % (4 * shape.decoder_heads);
  shape.text_width -= shape.text_width % (4 * shape.text_heads);
  return shape;
}

using Case = std::tuple<const char*, const char*, bool, int>;

class SizeMatrixTest : public ::testing::TestWithParam<Case> {
 protected:
  static feed::SmallDataSet& data() {
    static feed::SmallDataSet set(12);
    return set;
  }
};

config::Settings settings_of(const Case& what, const std::string& data, const std::string& run) {
  const auto& [size, level, is_static, accumulation] = what;
  config::SettingsInputs inputs;
  const auto give = [&inputs](const char* path, const std::string& text) {
    inputs.command_line.push_back({path, text, path});
  };
  give("data.path", data);
  give("device", "cpu");
  give("data.num_workers", "1");
  give("data.batch_frames", "400");
  give("data.preprocessing_mode", "runtime");
  give("training.checkpoint_dir", run);
  give("training.steps", "2");
  give("training.model_size", size);
  give("training.optimization_level", level);
  give("data.static_shapes", is_static ? "true" : "false");
  give("training.gradient_accumulation_steps", std::to_string(accumulation));
  return config::load_settings(inputs).settings;
}

TEST_P(SizeMatrixTest, TakesTwoStepsWithFiniteLosses) {
  const ScratchFolder scratch;
  TrainingHooks hooks;
  hooks.make_learner = [](LearnerOptions options) {
    options.shape = narrowed(options.shape);
    return make_learner(options);
  };
  const config::Settings settings =
      settings_of(GetParam(), data().folder().path(), scratch / "run");
  const Json result = run_training(settings, hooks);
  EXPECT_EQ(result.at("steps").number(), 2);
  EXPECT_TRUE(std::isfinite(result.at("loss_first").number()));
  EXPECT_GT(result.at("loss_last").number(), 0.0);
}

TEST(PackedTrainingTest, TakesTwoStepsWithFiniteLosses) {
  const ScratchFolder scratch;
  const feed::SmallDataSet set(12);
  config::Settings settings =
      settings_of({"tiny", "none", false, 1}, set.folder().path(), scratch / "run");
  settings.batch.batch_layout = config::BatchLayout::kPacked;
  const Json result = run_training(settings, {});
  EXPECT_EQ(result.at("steps").number(), 2);
  EXPECT_TRUE(std::isfinite(result.at("loss_last").number()));
}

std::string name_of_case(const ::testing::TestParamInfo<Case>& info) {
  const auto& [size, level, is_static, accumulation] = info.param;
  std::string name = std::string(size) + "_" + level + (is_static ? "_static" : "_bucketed");
  name += accumulation == 1 ? "_one" : "_two";
  for (char& c : name) c = c == '_' ? 'X' : c;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Sizes, SizeMatrixTest,
                         ::testing::Combine(::testing::Values("tiny", "small", "normal", "big"),
                                            ::testing::Values("basic", "enhanced",
                                                              "plateau_breaker", "experimental"),
                                            ::testing::Bool(), ::testing::Values(1, 2)),
                         name_of_case);

}  // namespace
}  // namespace stoker::train
